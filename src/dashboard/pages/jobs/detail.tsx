import type { JobRecord } from "../../../kinds/job-record.ts"
import type { DeliveryRecord } from "../../../resources/webhooks/record.ts"
import { StatusBadge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { CodeBlock } from "../../components/code-block.tsx"
import { CopyButton } from "../../components/copy-button.tsx"
import { Facts } from "../../components/facts.tsx"
import { Live, Polled } from "../../components/live.tsx"
import { Table } from "../../components/table.tsx"
import { Time } from "../../components/time.tsx"
import { lastAnswer } from "../webhooks/delivery-list.tsx"
import { JobOutcome } from "./outcome.tsx"
import { isOpen, JobProgress, JobStatus, ranFor, waitedFor } from "./state.tsx"

/** How a job is called: the ends of ids tell them apart. */
export function jobTitle({ kind, id }: Pick<JobRecord, "kind" | "id">): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${id.slice(-8)}`
}

/** A job, followed to its end: where it stands, what came of it, and what it was asked for. */
export function JobDetail(props: {
  job: JobRecord
  request: unknown
  deliveries: DeliveryRecord[]
}) {
  const { job, request, deliveries } = props
  return (
    <>
      <Polled isOpen={deliveries.some(({ status }) => status === "waiting")} />
      <Card title="State" actions={<JobActions job={job} />}>
        <JobState job={job} />
      </Card>
      <div class="columns">
        <Card title="About this job">
          <Live id="job-facts">
            <About job={job} />
          </Live>
        </Card>
        {request !== null && (
          <Card title="Request">
            <CodeBlock label="Request as JSON" text={JSON.stringify(request, null, 2)} />
          </Card>
        )}
      </div>
      <Live id="job-deliveries">
        {deliveries.length > 0 && <Deliveries deliveries={deliveries} />}
      </Live>
    </>
  )
}

/** Where a job stands, and what came of it. */
export function JobState({ job }: { job: JobRecord }) {
  return (
    <>
      <p class="job-state">
        <JobStatus job={job} /> <JobProgress job={job} isFollowed />
      </p>
      <JobOutcome job={job} />
    </>
  )
}

/** What can be done with a job as it now is. */
function JobActions({ job }: { job: JobRecord }) {
  return (
    <Live id={`actions-${job.id}`} as="span">
      <span class="actions">
        {isOpen(job) ? (
          <JobAction job={job} action="cancel" title="Cancel" />
        ) : (
          <>
            {job.kind === "command" && (
              <a class="button" href={`/playground?job=${job.id}`}>
                Edit in playground
              </a>
            )}
            <JobAction job={job} action="retry" title="Run again" />
            <JobAction
              job={job}
              action="delete"
              title="Delete"
              asks="Delete the job, with all that it made? Nothing brings it back."
            />
          </>
        )}
      </span>
    </Live>
  )
}

/** A button that does something to a job. */
export function JobAction(props: {
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

function About({ job }: { job: JobRecord }) {
  const { id, log, retry_of: before } = job
  return (
    <Facts
      rows={[
        [
          "Id",
          <>
            <code>{id}</code> <CopyButton text={id} />
          </>,
        ],
        ["Kind", job.kind],
        ["Attempts", job.attempts],
        ["Created", <Time at={job.created_at} />],
        ["Waited for", waitedFor(job)],
        ["Started", <Time at={job.started_at} />],
        ["Ran for", ranFor(job)],
        ["Completed", <Time at={job.completed_at} />],
        ...(log === undefined
          ? []
          : [["What ffmpeg said", <a href={`/v1/jobs/${id}/log`}>log</a>] as const]),
        ...(before === undefined
          ? []
          : [["Again of", <a href={`/jobs/${before}`}>{before}</a>] as const]),
        ...Object.entries(job.metadata).map(([key, value]) => [key, <bdi>{value}</bdi>] as const),
      ]}
    />
  )
}

function Deliveries({ deliveries }: { deliveries: DeliveryRecord[] }) {
  return (
    <Card title="Webhook deliveries" actions={<a href="/webhooks">All deliveries</a>}>
      <Table
        caption="Webhook deliveries of the job"
        columns={["Status", "URL", { title: "Tries", isNumeric: true }, "Last answer", "Created"]}
        rows={deliveries.map(({ status, url, tries, created_at: createdAt }) => [
          <StatusBadge status={status} />,
          <bdi>{url}</bdi>,
          tries.length,
          lastAnswer(tries),
          <Time at={createdAt} />,
        ])}
      />
    </Card>
  )
}
