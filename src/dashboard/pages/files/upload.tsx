import { Field } from "../../components/field.tsx"

/** Form that uploads one file, or several at once with JavaScript. */
export function UploadForm(props: { id: string; bytesMax: number; fault?: string | undefined }) {
  const { id, bytesMax, fault } = props
  return (
    <>
      <form
        class="drop-zone"
        method="post"
        action="/files"
        enctype="multipart/form-data"
        data-uploader
        data-bytes-max={bytesMax}
      >
        <p class="needs-script">Drop files anywhere on this page, or choose them.</p>
        <Field id={id} label="Files to upload" name="file" type="file" required error={fault} />
        <button class="button primary">Upload</button>
      </form>
      <ul class="uploads" data-uploads aria-label="Uploads" hidden></ul>
    </>
  )
}
