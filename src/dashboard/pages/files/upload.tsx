import type { UploadLimits } from "../upload-limits.ts"
import { Field } from "../../components/field.tsx"

/** Form that uploads one file, or several at once with JavaScript. */
export function UploadForm(props: {
  id: string
  limits: UploadLimits
  fault?: string | undefined
}) {
  const { id, limits, fault } = props
  return (
    <>
      <form
        class="drop-zone"
        method="post"
        action="/files"
        enctype="multipart/form-data"
        data-uploader
        data-bytes-max={limits.fileBytesMax}
        data-chunk-bytes={limits.chunkBytes}
      >
        <p class="needs-script">Drop files anywhere on this page, or choose them.</p>
        <Field id={id} label="Files to upload" name="file" type="file" required error={fault} />
        <button class="button primary">Upload</button>
      </form>
      <ul class="uploads" data-uploads aria-label="Uploads" hidden></ul>
    </>
  )
}
