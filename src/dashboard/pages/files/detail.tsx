import type { FileRecord } from "../../../kinds/file/record.ts"
import { ActionForm, LinkButton } from "../../components/buttons.tsx"
import { StatusBadge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { CodeBlock, CopyButton } from "../../components/code-block.tsx"
import { ErrorCode } from "../../components/error-code.tsx"
import { DescriptionList } from "../../components/description-list.tsx"
import { formatBytes, formatCount, formatDuration } from "../../components/format.ts"
import { LiveRegion, PollMarker } from "../../components/live.tsx"
import { Notice } from "../../components/notice.tsx"
import { downloadPath, inlineMediaPath, Player } from "../../components/player.tsx"
import { ProgressBar } from "../../components/progress.tsx"
import { Table } from "../../components/table.tsx"
import { RelativeTime } from "../../components/time.tsx"
import { makeCurlDownloadCommand } from "../curl-command.ts"
import { playbackSeconds } from "./list.tsx"
import { describeContainerFormat, describeStreams } from "./probe.ts"
import type { ProbeSection } from "./probe.ts"

/** Page of a File: its properties, a player, and the output of ffprobe. */
export function FileDetail({ file }: { file: FileRecord }) {
  const isOpen = file.status === "pending" || file.status === "running"
  const isStored = file.size_bytes !== null && file.status !== "failed"
  return (
    <>
      <PollMarker isOpen={isOpen} />
      <LiveRegion id="file-failure" tells>
        {file.error !== undefined && (
          <Notice tone="bad">
            {file.error} {file.error_code && <ErrorCode code={file.error_code} />}
          </Notice>
        )}
        {file.ffprobe_error !== undefined && (
          <Notice tone="idle">The probe failed: {file.ffprobe_error}</Notice>
        )}
        {file.warnings?.map(({ code, message }) => (
          <Notice tone="busy">
            {message} <code>{code}</code>
          </Notice>
        ))}
      </LiveRegion>
      <LiveRegion id="file-player">{isStored && <Shown file={file} />}</LiveRegion>
      <Card title="About this file" actions={<Actions file={file} isStored={isStored} />}>
        <LiveRegion id="file-facts">
          <About file={file} isOpen={isOpen} />
        </LiveRegion>
      </Card>
      <LiveRegion id="file-members">{file.files && <Members files={file.files} />}</LiveRegion>
      <LiveRegion id="file-probe">{file.ffprobe && <Probe probe={file.ffprobe} />}</LiveRegion>
      <Card title="Download by the API">
        <CodeBlock
          label="Command that downloads the file"
          text={makeCurlDownloadCommand({ url: file.download_url, name: file.name })}
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
      <LiveRegion id="file-links" as="span">
        {isStored && (
          <>
            <a class="button" href={downloadPath(file.download_url)} download>
              Download
            </a>{" "}
            {!file.files && (
              <LinkButton
                to={`/playground?file=${file.id}`}
                tone="primary"
                text="Use in playground"
              />
            )}
          </>
        )}
      </LiveRegion>
      {isStored && <PublishForm file={file} />}
      <ActionForm
        action={`/files/${file.id}/delete`}
        tone="danger"
        asks={`Delete “${file.name}”? The file cannot be restored, and jobs that wait for it fail.`}
        text="Delete"
      />
    </>
  )
}

function PublishForm({ file: { id, public_url } }: { file: FileRecord }) {
  const [act, title] =
    public_url === undefined ? ["publish", "Publish"] : ["unpublish", "Unpublish"]
  return <ActionForm action={`/files/${id}/${act}`}>{title}</ActionForm>
}

function About({ file, isOpen }: { file: FileRecord; isOpen: boolean }) {
  const { id, ffprobe, source_url: sourceUrl, size_bytes: bytes } = file
  const { public_url: publicUrl, expires_at: expiresAt, sha256 } = file
  const duration = playbackSeconds(file)
  const reference = `svc_id://${id}`
  return (
    <DescriptionList
      rows={[
        ["Status", <StatusBadge status={file.status} />],
        ...(isOpen ? [["Progress", <ProgressBar percent={file.progress ?? null} />] as const] : []),
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
          : [["Public URL", <PublicAddress url={publicUrl} />] as const]),
        ["Created", <RelativeTime at={file.created_at} />],
        ...(expiresAt === undefined ? [] : [["Removed", <RelativeTime at={expiresAt} />] as const]),
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

/** Maximum number of bundle members in the list; further members are only counted. */
const MEMBERS_SHOWN_MAX = 100

function Members({ files }: { files: NonNullable<FileRecord["files"]> }) {
  const firstFiles = files.slice(0, MEMBERS_SHOWN_MAX)
  return (
    <Card title={`Files of the bundle (${formatCount(files.length)})`}>
      <Table
        caption="Files of the bundle"
        columns={["Name", "Type", { title: "Size", isNumeric: true }]}
        rows={firstFiles.map((member) => [
          <a href={inlineMediaPath(member.download_url)}>
            <bdi>{member.name}</bdi>
          </a>,
          member.content_type,
          formatBytes(member.size_bytes),
        ])}
      />
      {files.length > firstFiles.length && (
        <p class="hint">
          {formatCount(files.length - firstFiles.length)} more files are not shown.
        </p>
      )}
    </Card>
  )
}

function Probe({ probe }: { probe: NonNullable<FileRecord["ffprobe"]> }) {
  return (
    <Card title="Content">
      <div class="streams">
        {[describeContainerFormat(probe), ...describeStreams(probe)].map((section) => (
          <Section {...section} />
        ))}
      </div>
      <details>
        <summary>Full output of ffprobe as JSON</summary>
        <CodeBlock label="ffprobe as JSON" text={JSON.stringify(probe, null, 2)} />
      </details>
    </Card>
  )
}

function Section({ title, facts }: ProbeSection) {
  return (
    <section class="stream">
      <h3>{title}</h3>
      <DescriptionList rows={facts} />
    </section>
  )
}
