import type { DeliveryRecord } from "../../../api/routes/webhooks/record.ts"
import type { BatchRecord } from "../../../kinds/batch-record.ts"
import { StatusBadge } from "../../components/badge.tsx"
import { ActionForm } from "../../components/buttons.tsx"
import { Card } from "../../components/card.tsx"
import { CopyButton } from "../../components/code-block.tsx"
import { DescriptionList } from "../../components/description-list.tsx"
import { formatBytes } from "../../components/format.ts"
import { LiveRegion, PollMarker } from "../../components/live.tsx"
import { downloadPath } from "../../components/player.tsx"
import { ProgressBar } from "../../components/progress.tsx"
import { Table } from "../../components/table.tsx"
import { RelativeTime } from "../../components/time.tsx"
import { OutputName } from "../jobs/detail.tsx"
import { formatRunTime } from "../jobs/state.tsx"
import { DeliveryCard } from "../webhooks/delivery-card.tsx"
import { BatchGraph, listNamedJobs } from "./graph.tsx"
import type { NamedJob } from "./graph.tsx"

/** Page of a batch: its state, its jobs as a graph, and their outputs. Follows it until its end. */
export function BatchDetail(props: { batch: BatchRecord; deliveries: DeliveryRecord[] }) {
  const { batch, deliveries } = props
  const jobs = listNamedJobs(batch)
  return (
    <>
      <PollMarker isOpen={deliveries.some(({ status }) => status === "waiting")} />
      <Card title="State" actions={<BatchActions batch={batch} />}>
        <BatchState batch={batch} jobs={jobs} />
      </Card>
      <Card title="Jobs">
        {jobs.length === 0 ? (
          <p class="soft">All jobs of the batch were deleted.</p>
        ) : (
          <BatchGraph jobs={jobs} />
        )}
      </Card>
      <Card title="Outputs">
        <LiveRegion id="outputs">
          <Outputs jobs={jobs} />
        </LiveRegion>
      </Card>
      <Card title="About this batch">
        <LiveRegion id="batch-facts">
          <About batch={batch} />
        </LiveRegion>
      </Card>
      <LiveRegion id="batch-deliveries">
        {deliveries.length > 0 && <DeliveryCard of="batch" deliveries={deliveries} />}
      </LiveRegion>
    </>
  )
}

/** Status and progress of a batch, and the counts of its jobs. */
function BatchState({ batch, jobs }: { batch: BatchRecord; jobs: readonly NamedJob[] }) {
  const { id, status, progress, open_jobs: open } = batch
  const startedCount = jobs.filter(({ started_at: startedAt }) => startedAt !== null).length
  return (
    <div class="job-state">
      <LiveRegion id={`status-${id}`} as="span" tells>
        <StatusBadge status={status} />
      </LiveRegion>
      <LiveRegion id={`progress-${id}`} as="span">
        {open > 0 && (
          <span data-progress={id} data-follow-batch={id} data-state={`${open} ${startedCount}`}>
            <ProgressBar percent={progress} label="Progress of the batch" />
          </span>
        )}
      </LiveRegion>
      <LiveRegion id={`counts-${id}`} as="span" class="soft">
        {describeCounts(batch)}
      </LiveRegion>
    </div>
  )
}

function describeCounts(batch: BatchRecord): string {
  const { total_jobs: total, open_jobs: open, failed_jobs: failed } = batch
  const ended = `${total - open} of ${total} ${total === 1 ? "job" : "jobs"} ended`
  return failed === 0 ? ended : `${ended}, ${failed} failed or canceled`
}

/** Buttons for the actions that the batch's state permits. */
function BatchActions({ batch }: { batch: BatchRecord }) {
  const path = `/batches/${batch.id}`
  return (
    <LiveRegion id="batch-actions" as="span">
      <span class="actions">
        {batch.open_jobs > 0 ? (
          <ActionForm action={`${path}/cancel`} tone="danger" text="Cancel" />
        ) : (
          <>
            {batch.failed_jobs > 0 && (
              <ActionForm action={`${path}/retry`} text="Run failed jobs again" />
            )}
            <ActionForm
              action={`${path}/delete`}
              tone="danger"
              text="Delete"
              asks="Delete the batch, its jobs and their files? They cannot be restored."
            />
          </>
        )}
      </span>
    </LiveRegion>
  )
}

function Outputs({ jobs }: { jobs: readonly NamedJob[] }) {
  const outputs = jobs.flatMap((job) => {
    return Object.entries(job.outputs).map(([key, output]) => ({ job, key, output }))
  })
  return (
    <Table
      caption="Outputs of the batch"
      columns={["Name", "Job", "Output", { title: "Size", isNumeric: true }, "Actions"]}
      rows={outputs.map(({ job, key, output }) => [
        <OutputName output={output} />,
        <a href={`/jobs/${job.id}`}>{job.name}</a>,
        <code>{key}</code>,
        formatBytes(output.size_bytes),
        <a
          class="button"
          href={downloadPath(output.url)}
          download
          aria-label={`Download ${output.name}`}
        >
          Download
        </a>,
      ])}
      empty={<p class="soft">The outputs of a job appear here after its success.</p>}
    />
  )
}

function About({ batch }: { batch: BatchRecord }) {
  const { id, retry_of: before, expires_at: expiresAt } = batch
  return (
    <DescriptionList
      rows={[
        [
          "Id",
          <>
            <code>{id}</code> <CopyButton text={id} />
          </>,
        ],
        ["Created", <RelativeTime at={batch.created_at} />],
        ["Completed", <RelativeTime at={batch.completed_at} />],
        ["Took", formatRunTime({ ...batch, started_at: batch.created_at })],
        ...(expiresAt === undefined ? [] : [["Expires", <RelativeTime at={expiresAt} />] as const]),
        ...(before === undefined
          ? []
          : [["Retry of", <a href={`/batches/${before}`}>{before}</a>] as const]),
        ...Object.entries(batch.metadata).map(([key, value]) => [key, <bdi>{value}</bdi>] as const),
      ]}
    />
  )
}
