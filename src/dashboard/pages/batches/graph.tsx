import type { BatchRecord } from "../../../kinds/batch-record.ts"
import { ErrorCode } from "../../components/error-code.tsx"
import { LiveRegion } from "../../components/live.tsx"
import { formatRunTime, isJobOpen, JobProgress, JobStatusBadge } from "../jobs/state.tsx"
import { graphViewBox, layOutGraph } from "./graph-layout.ts"

/** Job of a batch with its name. */
export type NamedJob = BatchRecord["jobs"][string] & { name: string }

/** Returns the jobs of a batch with their names, in the order of their creation. */
export function listNamedJobs({ jobs }: BatchRecord): NamedJob[] {
  return Object.entries(jobs).map(([name, job]) => ({ name, ...job }))
}

/**
 * Graph of the jobs of a batch: each behind those whose outputs it reads, with a line from each of
 * them. On narrow screens the jobs follow each other without lines; each also names its inputs.
 */
export function BatchGraph({ jobs }: { jobs: readonly NamedJob[] }) {
  const { layers, edges } = layOutGraph(jobs)
  const byName = new Map(jobs.map((job) => [job.name, job]))
  return (
    <div class="graph-scroll" role="region" aria-label="Jobs of the batch" tabindex={0}>
      <div class={edges.length === 0 ? "graph loose" : "graph"}>
        {edges.length > 0 && (
          <LiveRegion id="edges" class="graph-edges">
            <svg
              viewBox={graphViewBox(layers.length)}
              preserveAspectRatio="none"
              aria-hidden="true"
            >
              {edges.map(({ from, path }) => (
                <path class={edgeClass(byName.get(from))} d={path} />
              ))}
            </svg>
          </LiveRegion>
        )}
        {layers.map((layer) => (
          <ul class="graph-layer">
            {layer.map((job) => (
              <li>
                <GraphNode job={job} byName={byName} />
              </li>
            ))}
          </ul>
        ))}
      </div>
    </div>
  )
}

/** Returns the class of the lines from a job, which tells its state; none after its success. */
function edgeClass(source: NamedJob | undefined): string | undefined {
  if (source === undefined || source.status === "completed") return undefined
  return isJobOpen(source) ? "is-open" : "is-failed"
}

type NodeProps = { job: NamedJob; byName: ReadonlyMap<string, NamedJob> }

function GraphNode({ job, byName }: NodeProps) {
  const { id, name, kind, error } = job
  return (
    <div class="graph-node" id={`job-${id}`}>
      <p class="graph-line">
        <a class="name" href={`/jobs/${id}`}>
          {name}
        </a>
        <JobStatusBadge job={job} />
      </p>
      <p class="graph-line">
        <span class="soft">{kind}</span>
        <JobProgress job={job} isFollowed={false} />
        <LiveRegion id={`ran-${id}`} as="span" class="soft">
          {job.completed_at === null || job.started_at === null ? null : formatRunTime(job)}
        </LiveRegion>
      </p>
      {job.needs.length > 0 && (
        <LiveRegion id={`inputs-${id}`} class="graph-inputs">
          <Inputs job={job} byName={byName} />
        </LiveRegion>
      )}
      <LiveRegion id={`failure-${id}`} class="graph-error" tells>
        {error && error.code !== "canceled" && (
          <p title={error.message}>
            <ErrorCode code={error.code} /> {error.message}
          </p>
        )}
      </LiveRegion>
    </div>
  )
}

/** Line with the jobs that a job still waits for, or else with those whose outputs it reads. */
function Inputs({ job: { needs, waiting_for: awaited }, byName }: NodeProps) {
  const names = awaited ?? needs
  return (
    <p title={names.join(", ")}>
      {awaited ? "waits for " : "reads "}
      {names.map((name, at) => (
        <>
          {at > 0 && ", "}
          <JobReference name={name} job={byName.get(name)} />
        </>
      ))}
    </p>
  )
}

/** Link to a job of the graph by its name, or to the page of another job, whose name is its id. */
function JobReference({ name, job }: { name: string; job: NamedJob | undefined }) {
  if (job) return <a href={`#job-${job.id}`}>{name}</a>
  return (
    <a href={`/jobs/${name}`}>
      job <code>{name.slice(-8)}</code>
    </a>
  )
}
