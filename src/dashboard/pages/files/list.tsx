import { fileSource } from "../../../kinds/file/record.ts"
import type { FileRecord } from "../../../kinds/file/record.ts"
import { STATUSES } from "../../../kinds/record-fields.ts"
import { StatusBadge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { Field, Select } from "../../components/field.tsx"
import { formatBytes, formatDuration } from "../../components/format.ts"
import { Live, Polled } from "../../components/live.tsx"
import { Pager } from "../../components/pager.tsx"
import { Table } from "../../components/table.tsx"
import { Time } from "../../components/time.tsx"
import { UploadForm } from "./upload.tsx"

/** The filters of the list. */
export const FILE_FILTERS = ["source", "status"] as const

/** What was wrong with what was sent, and the URL that was. */
export type AddFilesFaults = {
  upload?: string | undefined
  import?: string | undefined
  url?: string | undefined
}

/** Two ways to bring files in; the one for uploads takes several at once where there is script. */
export function AddFiles(props: { faults: AddFilesFaults; bytesMax: number }) {
  const { faults, bytesMax } = props
  return (
    <Card title="Add files">
      <div class="add-files">
        <div>
          <UploadForm id="upload" bytesMax={bytesMax} fault={faults.upload} />
        </div>
        <form method="post" action="/files/import">
          <Field
            label="Import from a URL"
            name="file_url"
            type="url"
            value={faults.url}
            required
            error={faults.import}
            hint="Of media, or of a page that has some."
            placeholder="https://"
          />
          <button class="button">Import</button>
        </form>
      </div>
    </Card>
  )
}

/** A page of files. */
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
      <Polled isOpen={files.some(({ status }) => status === "pending" || status === "running")} />
      <Live id="file-list">
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
      </Live>
    </Card>
  )
}

/** How long media of a file play, in seconds; null where nothing plays, as in a picture. */
export function durationOf(file: FileRecord): number | null {
  const { duration_seconds: seconds, ffprobe, content_type: type } = file
  // Of a picture ffprobe tells the length of its one frame.
  if (type?.startsWith("image/") && type !== "image/gif") return null
  return seconds ?? ffprobe?.duration ?? null
}

function fileRow(file: FileRecord) {
  const { id, name, status, size_bytes: bytes, content_type: type } = file
  const duration = durationOf(file)
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
    <Time at={file.created_at} />,
  ]
}

function FileFilters({ filters }: { filters: URLSearchParams }) {
  return (
    <form method="get" action="/files" class="filters" data-filters>
      <Select
        label="Source"
        name="source"
        value={filters.get("source") ?? ""}
        options={[["", "Any source"], ...fileSource.options]}
      />
      <Select
        label="Status"
        name="status"
        value={filters.get("status") ?? ""}
        options={[["", "Any status"], ...STATUSES]}
      />
      <button class="button">Filter</button>
    </form>
  )
}

function NoFiles() {
  return (
    <EmptyState title="There are no files yet">
      <p>
        Upload a video, a sound or a picture above, or <a href="/playground">run a command</a>: what
        it makes lands here.
      </p>
    </EmptyState>
  )
}

function NothingFound() {
  return (
    <EmptyState title="No file is like that">
      <p>
        <a href="/files">Show all files</a>
      </p>
    </EmptyState>
  )
}
