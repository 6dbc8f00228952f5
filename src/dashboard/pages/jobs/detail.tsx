import type { JobRecord } from "../../../kinds/job-record.ts"
import type { DeliveryRecord } from "../../../api/routes/webhooks/record.ts"
import { LinkButton } from "../../components/buttons.tsx"
import { Card } from "../../components/card.tsx"
import { CodeBlock, CopyButton } from "../../components/code-block.tsx"
import { DescriptionList } from "../../components/description-list.tsx"
import { LiveRegion, PollMarker } from "../../components/live.tsx"
import { RelativeTime } from "../../components/time.tsx"
import { DeliveryCard } from "../webhooks/delivery-card.tsx"
import { listRelationRows } from "./relations.tsx"
import type { JobRelations } from "./relations.tsx"
import { isJobOpen, JobProgress, JobStatusBadge, formatRunTime, formatWaitTime } from "./state.tsx"
import { ErrorCode } from "../../components/error-code.tsx"
import { formatBytes, formatDuration } from "../../components/format.ts"
import { Notice } from "../../components/notice.tsx"
import { downloadPath, detectPlayableKind, Player } from "../../components/player.tsx"
import type { PlayableFile } from "../../components/player.tsx"

/** Returns the title of a job: its kind and the last characters of its id. */
export function jobTitle({ kind, id }: Pick<JobRecord, "kind" | "id">): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${id.slice(-8)}`
}

/**
 * Page of a job: its state, outputs, properties and request. The page follows the job until its
 * end.
 */
export function JobDetail(props: {
  job: JobRecord
  request: unknown
  relations: JobRelations
  deliveries: DeliveryRecord[]
}) {
  const { job, request, relations, deliveries } = props
  return (
    <>
      <PollMarker isOpen={deliveries.some(({ status }) => status === "waiting")} />
      <Card title="State" actions={<JobActions job={job} />}>
        <JobStateView job={job} />
      </Card>
      <div class="columns">
        <Card title="About this job">
          <LiveRegion id="job-facts">
            <About job={job} relations={relations} />
          </LiveRegion>
        </Card>
        {request !== null && (
          <Card title="Request">
            <CodeBlock label="Request as JSON" text={JSON.stringify(request, null, 2)} />
          </Card>
        )}
      </div>
      <LiveRegion id="job-deliveries">
        {deliveries.length > 0 && <DeliveryCard of="job" deliveries={deliveries} />}
      </LiveRegion>
    </>
  )
}

/** Status, progress and outcome of a job. */
export function JobStateView({ job }: { job: JobRecord }) {
  return (
    <>
      <p class="job-state">
        <JobStatusBadge job={job} /> <JobProgress job={job} isFollowed />
      </p>
      <JobOutcome job={job} />
    </>
  )
}

/** Buttons for the actions that the job's status permits. */
function JobActions({ job }: { job: JobRecord }) {
  return (
    <LiveRegion id={`actions-${job.id}`} as="span">
      <span class="actions">
        {isJobOpen(job) ? (
          <JobActionButton job={job} action="cancel" title="Cancel" />
        ) : (
          <>
            {job.kind === "command" && (
              <LinkButton to={`/playground?job=${job.id}`} text="Edit in playground" />
            )}
            <JobActionButton job={job} action="retry" title="Run again" />
            <JobActionButton
              job={job}
              action="delete"
              title="Delete"
              asks="Delete the job and its files? They cannot be restored."
            />
          </>
        )}
      </span>
    </LiveRegion>
  )
}

/** Button that cancels, retries or deletes a job. */
export function JobActionButton(props: {
  job: Pick<JobRecord, "id">
  action: "cancel" | "retry" | "delete"
  title: string
  asks?: string
}) {
  const { job, action, title, asks } = props
  return (
    <form method="post" action={`/jobs/${job.id}/${action}`}>
      <button class={action === "retry" ? "button" : "button danger"} data-confirm={asks}>
        {title}
      </button>
    </form>
  )
}

function About({ job, relations }: { job: JobRecord; relations: JobRelations }) {
  const { id, log, retry_of: before } = job
  return (
    <DescriptionList
      rows={[
        [
          "Id",
          <>
            <code>{id}</code> <CopyButton text={id} />
          </>,
        ],
        ["Kind", job.kind],
        ...listRelationRows(relations),
        ["Attempts", job.attempts],
        ["Created", <RelativeTime at={job.created_at} />],
        ["Waited for", formatWaitTime(job)],
        ["Started", <RelativeTime at={job.started_at} />],
        ["Ran for", formatRunTime(job)],
        ["Completed", <RelativeTime at={job.completed_at} />],
        ...(log === undefined
          ? []
          : [["FFmpeg output", <a href={`/v1/jobs/${id}/log`}>log</a>] as const]),
        ...(before === undefined
          ? []
          : [["Retry of", <a href={`/jobs/${before}`}>{before}</a>] as const]),
        ...Object.entries(job.metadata).map(([key, value]) => [key, <bdi>{value}</bdi>] as const),
      ]}
    />
  )
}

type Output = JobRecord["outputs"][number]

/** Outcome of a job: outputs with players and warnings, or the failure. */
function JobOutcome({ job }: { job: JobRecord }) {
  return (
    <>
      <LiveRegion id={`failure-${job.id}`} tells>
        {job.error && <Failure error={job.error} lines={job.processing_errors ?? []} />}
        {job.warnings.map(({ code, message }) => (
          <Notice tone="busy">
            {message} <code>{code}</code>
          </Notice>
        ))}
      </LiveRegion>
      <LiveRegion id={`outputs-${job.id}`}>
        {job.outputs.length > 0 && <Outputs outputs={job.outputs} />}
      </LiveRegion>
    </>
  )
}

function Failure(props: { error: NonNullable<JobRecord["error"]>; lines: string[] }) {
  const { error, lines } = props
  // The first line of the tool's output repeats the error message.
  const toolLines = lines.slice(1)
  return (
    <Notice tone={error.code === "canceled" ? "idle" : "bad"}>
      <p>
        {error.message} <ErrorCode code={error.code} />
      </p>
      {toolLines.length > 0 && (
        <pre tabindex={0} role="region" aria-label="Last lines of the tool">
          <code>{toolLines.join("\n")}</code>
        </pre>
      )}
    </Notice>
  )
}

function Outputs({ outputs }: { outputs: Output[] }) {
  const rows = outputs.map((output) => ({ output, playable: playableOf(output) }))
  const tracks = rows
    .map(({ playable }) => playable)
    .filter((playable) => detectPlayableKind(playable) === "captions")
  return (
    <ul class="outputs">
      {rows.map(({ output, playable }) => (
        <li>
          <Player shown={playable} tracks={tracks} />
          <p class="output-name">
            <OutputName output={output} />
            <span class="hint">{factsOf(output, isStill(playable))}</span>
          </p>
          <a class="button" href={downloadPath(output.url)} download>
            Download
          </a>
        </li>
      ))}
    </ul>
  )
}

/** Name of a job output, as a link if the output is a File. */
export function OutputName({ output: { id, name } }: { output: Pick<Output, "id" | "name"> }) {
  if (id === undefined) return <bdi>{name}</bdi>
  return (
    <a href={`/files/${id}`}>
      <bdi>{name}</bdi>
    </a>
  )
}

function isStill(playable: PlayableFile): boolean {
  return detectPlayableKind(playable) === "picture" && !/\.gif$/i.test(playable.name)
}

function factsOf(output: Output, isPicture: boolean): string {
  const { codec, resolution, duration_seconds: duration, size_bytes: bytes, quality } = output
  const facts = [
    codec,
    resolution?.replace("x", " × "),
    // The duration of a picture is the duration of one frame.
    duration === undefined || isPicture ? undefined : formatDuration(duration),
    formatBytes(bytes),
    quality && `${quality.metric} ${quality.score}`,
  ]
  return facts.filter((fact) => fact !== undefined).join(" · ")
}

function playableOf({ name, url, content_type: contentType }: Output): PlayableFile {
  return { name, url, contentType }
}
