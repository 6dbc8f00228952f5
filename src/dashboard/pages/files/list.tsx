import { fileSourceSchema } from "../../../kinds/file/record.ts"
import type { FileRecord } from "../../../kinds/file/record.ts"
import { RECORD_STATUSES } from "../../../kinds/shared-record-fields.ts"
import { StatusBadge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { Field, Select } from "../../components/field.tsx"
import { formatBytes, formatDuration } from "../../components/format.ts"
import { LiveRegion, PollMarker } from "../../components/live.tsx"
import { Pager } from "../../components/pager.tsx"
import { Table } from "../../components/table.tsx"
import { RelativeTime } from "../../components/time.tsx"
import type { UploadLimits } from "../upload-limits.ts"
import { UploadForm } from "./upload.tsx"

/** Query parameters that filter the list of Files. */
export const FILE_FILTER_PARAMETERS = ["source", "status"] as const

/** Error messages of the forms that add Files, and the submitted URL. */
export type AddFilesErrors = {
  upload?: string | undefined
  import?: string | undefined
  url?: string | undefined
}

/**
 * Forms to upload files and to import a file from a URL. With JavaScript, several files upload at
 * once.
 */
export function AddFilesCard(props: { faults: AddFilesErrors; limits: UploadLimits }) {
  const { faults, limits } = props
  return (
    <Card title="Add files">
      <div class="add-files">
        <div>
          <UploadForm id="upload" limits={limits} fault={faults.upload} />
        </div>
        <form method="post" action="/files/import">
          <Field
            label="Import from a URL"
            name="file_url"
            type="url"
            value={faults.url}
            required
            error={faults.import}
            hint="URL of a media file, or of a page with media."
            placeholder="https://"
          />
          <button class="button">Import</button>
        </form>
      </div>
    </Card>
  )
}

/** Table with one page of Files. */
export function FileTable(props: {
  files: FileRecord[]
  filters: URLSearchParams
  next: string | null
  isFirstPage: boolean
}) {
  const { files, filters, next, isFirstPage } = props
  const isFiltered = filters.size > 0 || !isFirstPage
  const isEmpty = files.length === 0 && !isFiltered
  return (
    <Card title="All files" actions={isEmpty ? null : <FileFilters filters={filters} />}>
      <PollMarker
        isOpen={files.some(({ status }) => status === "pending" || status === "running")}
      />
      <LiveRegion id="file-list">
        <Table
          caption="Files"
          columns={[
            "Name",
            "Status",
            "Type",
            { title: "Size", isNumeric: true },
            { title: "Duration", isNumeric: true },
            "Source",
            "Created",
          ]}
          rows={files.map(fileRow)}
          empty={isFiltered ? <NothingFound /> : <NoFiles />}
        />
        <Pager next={next} />
      </LiveRegion>
    </Card>
  )
}

/**
 * Returns the playing time of a File in seconds; null for a File that does not play, such as a
 * picture.
 */
export function playbackSeconds(file: FileRecord): number | null {
  const { duration_seconds: seconds, ffprobe, content_type: type } = file
  // For a picture, ffprobe reports the duration of one frame.
  if (type?.startsWith("image/") && type !== "image/gif") return null
  return seconds ?? ffprobe?.duration ?? null
}

function fileRow(file: FileRecord) {
  const { id, name, status, size_bytes: bytes, content_type: type } = file
  const duration = playbackSeconds(file)
  return [
    <a class="name" href={`/files/${id}`}>
      <bdi>{name}</bdi>
    </a>,
    <StatusBadge status={status} />,
    <span class="type" title={type ?? undefined}>
      {type ?? "–"}
    </span>,
    bytes === null ? "–" : formatBytes(bytes),
    duration === null ? "–" : formatDuration(duration),
    file.source,
    <RelativeTime at={file.created_at} />,
  ]
}

function FileFilters({ filters }: { filters: URLSearchParams }) {
  return (
    <form method="get" action="/files" class="filters" data-filters>
      <Select
        label="Source"
        name="source"
        value={filters.get("source") ?? ""}
        options={[["", "Any source"], ...fileSourceSchema.options]}
      />
      <Select
        label="Status"
        name="status"
        value={filters.get("status") ?? ""}
        options={[["", "Any status"], ...RECORD_STATUSES]}
      />
      <button class="button">Filter</button>
    </form>
  )
}

function NoFiles() {
  return (
    <EmptyState title="No files yet">
      <p>
        Upload a video, an audio file or an image above, or <a href="/playground">run a command</a>.
        Its outputs appear here.
      </p>
    </EmptyState>
  )
}

function NothingFound() {
  return (
    <EmptyState title="No file matches the filter">
      <p>
        <a href="/files">Show all files</a>
      </p>
    </EmptyState>
  )
}
