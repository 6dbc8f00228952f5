import { JOB_STATUSES } from "../../../kinds/job-record.ts"
import type { JobRecord } from "../../../kinds/job-record.ts"
import { KIND_NAMES } from "../../../kinds/registry.ts"
import { Card } from "../../components/card.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { Select } from "../../components/field.tsx"
import { Live, Polled } from "../../components/live.tsx"
import { Pager } from "../../components/pager.tsx"
import { Table } from "../../components/table.tsx"
import { Time } from "../../components/time.tsx"
import { isOpen, JobLink, JobProgress, JobStatus, ranFor } from "./state.tsx"

/** The filters of the list. */
export const JOB_FILTERS = ["kind", "status"] as const

/** Open jobs of a list that are followed by events; where there are more, the list is polled. */
const FOLLOWED_MAX = 3

/** A page of jobs. */
export function JobTable(props: {
  jobs: JobRecord[]
  filters: URLSearchParams
  next: string | null
  isFirstPage: boolean
}) {
  const { jobs, filters, next, isFirstPage } = props
  const isNarrowed = filters.size > 0 || !isFirstPage
  const isEmpty = jobs.length === 0 && !isNarrowed
  const areFollowed = jobs.filter(isOpen).length <= FOLLOWED_MAX
  return (
    <Card title="All jobs" actions={isEmpty ? null : <JobFilters filters={filters} />}>
      <Polled isOpen={!areFollowed} />
      <Table
        caption="Jobs"
        columns={[
          "Job",
          "Status",
          "Progress",
          { title: "Ran for", isNumeric: true },
          { title: "Outputs", isNumeric: true },
          "Created",
        ]}
        rows={jobs.map((job) => jobRow(job, areFollowed))}
        empty={isNarrowed ? <NothingFound /> : <NoJobs />}
      />
      <Pager next={next} />
    </Card>
  )
}

function jobRow(job: JobRecord, isFollowed: boolean) {
  const { id } = job
  return [
    <JobLink job={job} />,
    <JobStatus job={job} />,
    <JobProgress job={job} isFollowed={isFollowed} />,
    <Live id={`ran-${id}`} as="span">
      {ranFor(job)}
    </Live>,
    <Live id={`made-${id}`} as="span">
      {job.outputs.length === 0 ? "–" : job.outputs.length}
    </Live>,
    <Time at={job.created_at} />,
  ]
}

function JobFilters({ filters }: { filters: URLSearchParams }) {
  return (
    <form method="get" action="/jobs" class="filters" data-filters>
      <Select
        label="Kind"
        name="kind"
        value={filters.get("kind") ?? ""}
        options={[["", "Any kind"], ...KIND_NAMES]}
      />
      <Select
        label="Status"
        name="status"
        value={filters.get("status") ?? ""}
        options={[["", "Any status"], ...JOB_STATUSES]}
      />
      <button class="button">Filter</button>
    </form>
  )
}

function NoJobs() {
  return (
    <EmptyState title="There are no jobs yet">
      <p>
        <a class="button primary" href="/playground">
          Run a first command
        </a>
      </p>
      <p>Or send one by the API; the playground shows how.</p>
    </EmptyState>
  )
}

function NothingFound() {
  return (
    <EmptyState title="No job is like that">
      <p>
        <a href="/jobs">Show all jobs</a>
      </p>
    </EmptyState>
  )
}
