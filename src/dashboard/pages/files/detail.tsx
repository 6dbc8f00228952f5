import type { FileRecord } from "../../../kinds/file/record.ts"
import { StatusBadge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { CodeBlock } from "../../components/code-block.tsx"
import { CopyButton } from "../../components/copy-button.tsx"
import { ErrorCode } from "../../components/error-code.tsx"
import { Facts } from "../../components/facts.tsx"
import { formatBytes, formatCount, formatDuration } from "../../components/format.ts"
import { Live, Polled } from "../../components/live.tsx"
import { Notice } from "../../components/notice.tsx"
import { downloadPath, inlineUrl, Player } from "../../components/player.tsx"
import { Progress } from "../../components/progress.tsx"
import { Table } from "../../components/table.tsx"
import { Time } from "../../components/time.tsx"
import { curlDownload } from "../shell.ts"
import { durationOf } from "./list.tsx"
import { describeFormat, describeStreams } from "./probe.ts"
import type { Described } from "./probe.ts"

/** A file: what it is, a player, and what ffprobe says of it. */
export function FileDetail({ file }: { file: FileRecord }) {
  const isOpen = file.status === "pending" || file.status === "running"
  const isStored = file.size_bytes !== null && file.status !== "failed"
  return (
    <>
      <Polled isOpen={isOpen} />
      <Live id="file-failure" tells>
        {file.error !== undefined && (
          <Notice tone="bad">
            {file.error} {file.error_code && <ErrorCode code={file.error_code} />}
          </Notice>
        )}
        {file.ffprobe_error !== undefined && (
          <Notice tone="idle">It could not be probed: {file.ffprobe_error}</Notice>
        )}
      </Live>
      <Live id="file-player">{isStored && <Shown file={file} />}</Live>
      <Card title="About this file" actions={<Actions file={file} isStored={isStored} />}>
        <Live id="file-facts">
          <About file={file} isOpen={isOpen} />
        </Live>
      </Card>
      <Live id="file-members">{file.files && <Members files={file.files} />}</Live>
      <Live id="file-probe">{file.ffprobe && <Probe probe={file.ffprobe} />}</Live>
      <Card title="Download it by the API">
        <CodeBlock
          label="Command that downloads the file"
          text={curlDownload({ url: file.download_url, name: file.name })}
        />
      </Card>
    </>
  )
}

function Shown({ file }: { file: FileRecord }) {
  const { name, download_url: url, content_type: contentType } = file
  return <Player shown={{ name, url, contentType }} />
}

function Actions({ file, isStored }: { file: FileRecord; isStored: boolean }) {
  return (
    <>
      <Live id="file-links" as="span">
        {isStored && (
          <>
            <a class="button" href={downloadPath(file.download_url)} download>
              Download
            </a>{" "}
            {!file.files && (
              <a class="button primary" href={`/playground?file=${file.id}`}>
                Use in playground
              </a>
            )}
          </>
        )}
      </Live>
      {isStored && <PublishForm file={file} />}
      <form method="post" action={`/files/${file.id}/delete`}>
        <button
          class="button danger"
          data-confirm={`Delete “${file.name}”? Nothing brings it back, and jobs that wait for it fail.`}
        >
          Delete
        </button>
      </form>
    </>
  )
}

function PublishForm({ file: { id, public_url } }: { file: FileRecord }) {
  const [act, title] =
    public_url === undefined ? ["publish", "Publish"] : ["unpublish", "Take back from the public"]
  return (
    <form method="post" action={`/files/${id}/${act}`}>
      <button class="button">{title}</button>
    </form>
  )
}

function About({ file, isOpen }: { file: FileRecord; isOpen: boolean }) {
  const { id, ffprobe, source_url: sourceUrl, size_bytes: bytes } = file
  const { public_url: publicUrl, expires_at: expiresAt, sha256 } = file
  const duration = durationOf(file)
  const reference = `svc_id://${id}`
  return (
    <Facts
      rows={[
        ["Status", <StatusBadge status={file.status} />],
        ...(isOpen ? [["Progress", <Progress percent={file.progress ?? null} />] as const] : []),
        [
          "Reference",
          <>
            <code>{reference}</code> <CopyButton text={reference} />
          </>,
        ],
        ["Type", file.content_type ?? "–"],
        ["Size", bytes === null ? "–" : `${formatBytes(bytes)} (${formatCount(bytes)} bytes)`],
        ...(duration === null ? [] : [["Duration", formatDuration(duration)] as const]),
        ...(ffprobe?.width && ffprobe.height
          ? [["Picture", `${ffprobe.width} × ${ffprobe.height}`] as const]
          : []),
        ["Source", file.source],
        ...(sourceUrl === undefined ? [] : [["Imported from", <bdi>{sourceUrl}</bdi>] as const]),
        ...(sha256 === undefined ? [] : [["SHA-256", <code>{sha256}</code>] as const]),
        ...(publicUrl === undefined
          ? []
          : [["Public address", <PublicAddress url={publicUrl} />] as const]),
        ["Created", <Time at={file.created_at} />],
        ...(expiresAt === undefined ? [] : [["Removed", <Time at={expiresAt} />] as const]),
      ]}
    />
  )
}

function PublicAddress({ url }: { url: string }) {
  return (
    <>
      <a href={url}>
        <bdi>{url}</bdi>
      </a>{" "}
      <CopyButton text={url} />
    </>
  )
}

/** Lists longer than that say how much longer they are. */
const MEMBERS_SHOWN_MAX = 100

function Members({ files }: { files: NonNullable<FileRecord["files"]> }) {
  const shown = files.slice(0, MEMBERS_SHOWN_MAX)
  return (
    <Card title={`Its ${formatCount(files.length)} files`}>
      <Table
        caption="Files of the bundle"
        columns={["Name", "Type", { title: "Size", isNumeric: true }]}
        rows={shown.map((member) => [
          <a href={inlineUrl(member.download_url)}>
            <bdi>{member.name}</bdi>
          </a>,
          member.content_type,
          formatBytes(member.size_bytes),
        ])}
      />
      {files.length > shown.length && (
        <p class="hint">And {formatCount(files.length - shown.length)} more.</p>
      )}
    </Card>
  )
}

function Probe({ probe }: { probe: NonNullable<FileRecord["ffprobe"]> }) {
  return (
    <Card title="What is in it">
      <div class="streams">
        {[describeFormat(probe), ...describeStreams(probe)].map((described) => (
          <Section {...described} />
        ))}
      </div>
      <details>
        <summary>All that ffprobe says, as JSON</summary>
        <CodeBlock label="ffprobe as JSON" text={JSON.stringify(probe, null, 2)} />
      </details>
    </Card>
  )
}

function Section({ title, facts }: Described) {
  return (
    <section class="stream">
      <h3>{title}</h3>
      <Facts rows={facts} />
    </section>
  )
}
