import { Hono } from "hono"
import { z } from "zod"
import { JOB_STATUSES, jobRecordSchema } from "../../kinds/job-record.ts"
import type { JobRecord } from "../../kinds/job-record.ts"
import { deliveryRecordSchema } from "../../api/routes/webhooks/record.ts"
import { listRelatedJobs } from "../../db/jobs/dependents.ts"
import { findJob } from "../../db/jobs/jobs.ts"
import { openAccountDatabases } from "../../db/database.ts"
import { hydrateJob } from "../../db/values/hydrate.ts"
import { unwrapApiResult } from "../api.ts"
import type { ApiRequestResult } from "../api.ts"
import { readEncodedPathId } from "../context.ts"
import type { PageContext, PageEnv } from "../context.ts"
import { redirectWithMessage } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { buildNextPagePath, readDashboardListQuery } from "../list-page.ts"
import { JobDetail, jobTitle } from "./jobs/detail.tsx"
import { NAMED_JOBS_MAX } from "./jobs/relations.tsx"
import type { JobRelations } from "./jobs/relations.tsx"
import { JOB_LIST_KIND_NAMES } from "../../kinds/registry.ts"
import { LinkButton } from "../components/buttons.tsx"
import { Card } from "../components/card.tsx"
import { EmptyState } from "../components/empty-state.tsx"
import { Select } from "../components/field.tsx"
import { LiveRegion, PollMarker } from "../components/live.tsx"
import { Pager } from "../components/pager.tsx"
import { Table } from "../components/table.tsx"
import { RelativeTime } from "../components/time.tsx"
import { isJobOpen, JobLink, JobProgress, JobStatusBadge, formatRunTime } from "./jobs/state.tsx"

/** Pages of the account's jobs: a list, and a page for each job that follows its progress. */
export const jobPages = new Hono<PageEnv>()

const PATH = "/jobs"
const SCRIPTS = ["live.client.js"] as const

jobPages.get(PATH, async (c) => {
  const { filters, query, isFirstPage } = readDashboardListQuery(c, JOB_FILTERS)
  const answer = await c.get("api")(`/jobs?${query.toString()}`, z.array(jobRecordSchema))
  return await showPage(
    c,
    {
      title: "Jobs",
      section: "jobs",
      lead: "All jobs of this account, newest first. Open jobs update automatically.",
      scripts: SCRIPTS,
    },
    <JobTable
      jobs={unwrapApiResult(answer)}
      filters={filters}
      next={buildNextPagePath(PATH, answer)}
      isFirstPage={isFirstPage}
    />,
  )
})

jobPages.get(`${PATH}/:id`, async (c) => {
  const [answer, deliveries, { request, relations }] = await Promise.all([
    c.get("api")(`/jobs/${readEncodedPathId(c)}`, jobRecordSchema),
    c.get("api")(
      `/webhooks/deliveries?job_id=${readEncodedPathId(c)}`,
      z.array(deliveryRecordSchema),
    ),
    readFromDatabase(c),
  ])
  const job = unwrapApiResult(answer)
  return await showPage(
    c,
    { title: jobTitle(job), section: "jobs", scripts: SCRIPTS },
    <JobDetail
      job={job}
      request={request}
      relations={relations}
      deliveries={deliveries.ok ? deliveries.value : []}
    />,
  )
})

jobPages.post(`${PATH}/:id/cancel`, async (c) => {
  const answer = await post(c, "/cancel")
  if (answer.ok) return redirectWithMessage(c, `/jobs/${answer.value.id}`, "The job was canceled.")
  return refuse(c, answer)
})

jobPages.post(`${PATH}/:id/retry`, async (c) => {
  const answer = await post(c, "/retry")
  const message = "The job runs again as this new job."
  if (answer.ok) return redirectWithMessage(c, `/jobs/${answer.value.id}`, message)
  return refuse(c, answer)
})

jobPages.post(`${PATH}/:id/delete`, async (c) => {
  const answer = await c.get("api")(`/jobs/${readEncodedPathId(c)}`, z.object({}), {
    method: "DELETE",
  })
  unwrapApiResult(answer)
  return redirectWithMessage(c, PATH, "The job and its files were deleted.")
})

async function post(c: PageContext, action: "/cancel" | "/retry") {
  return await c.get("api")(`/jobs/${readEncodedPathId(c)}${action}`, jobRecordSchema, {
    method: "POST",
  })
}

/** Redirects to the page of a job, which shows why the action was refused. */
function refuse(
  c: PageContext,
  answer: Exclude<ApiRequestResult<unknown>, { ok: true }>,
): Response {
  if (answer.status === 404) unwrapApiResult(answer)
  return redirectWithMessage(c, `/jobs/${readEncodedPathId(c)}`, answer.message, "bad")
}

/**
 * Reads from the database which jobs belong to a job, and its request, which not every record has.
 */
async function readFromDatabase(
  c: PageContext,
): Promise<{ request: unknown; relations: JobRelations }> {
  const database = openAccountDatabases(c.env, c.get("signedIn").account.id)
  const id = (c.req.param("id") ?? "").toLowerCase()
  const [job, related] = await Promise.all([
    findJob(database, id),
    listRelatedJobs(database, id, NAMED_JOBS_MAX),
  ])
  const { batchId = null, batchName = null } = job ?? {}
  const request = job && (await hydrateJob(c.env.MEDIA, job)).request
  return { request, relations: { batchId, batchName, ...related } }
}

/** Query parameters that filter the list of jobs. */
const JOB_FILTERS = ["kind", "status"] as const

/**
 * Number of open jobs up to which the list follows each job by server-sent events. With more open
 * jobs, the list is polled.
 */
const FOLLOWED_MAX = 3

/** Table with one page of jobs. */
function JobTable(props: {
  jobs: JobRecord[]
  filters: URLSearchParams
  next: string | null
  isFirstPage: boolean
}) {
  const { jobs, filters, next, isFirstPage } = props
  const isNarrowed = filters.size > 0 || !isFirstPage
  const isEmpty = jobs.length === 0 && !isNarrowed
  const areFollowed = jobs.filter(isJobOpen).length <= FOLLOWED_MAX
  return (
    <Card title="All jobs" actions={isEmpty ? null : <JobFilters filters={filters} />}>
      <PollMarker isOpen={!areFollowed} />
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
    <JobStatusBadge job={job} />,
    <JobProgress job={job} isFollowed={isFollowed} />,
    <LiveRegion id={`ran-${id}`} as="span">
      {formatRunTime(job)}
    </LiveRegion>,
    <LiveRegion id={`made-${id}`} as="span">
      {job.outputs.length === 0 ? "–" : job.outputs.length}
    </LiveRegion>,
    <RelativeTime at={job.created_at} />,
  ]
}

function JobFilters({ filters }: { filters: URLSearchParams }) {
  return (
    <form method="get" action="/jobs" class="filters" data-filters>
      <Select
        label="Kind"
        name="kind"
        value={filters.get("kind") ?? ""}
        options={[["", "Any kind"], ...JOB_LIST_KIND_NAMES]}
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
    <EmptyState title="No jobs yet">
      <p>
        <LinkButton to="/playground" tone="primary" text="Run a first command" />
      </p>
      <p>The playground also shows the request for the API.</p>
    </EmptyState>
  )
}

function NothingFound() {
  return (
    <EmptyState title="No job matches the filter">
      <p>
        <a href="/jobs">Show all jobs</a>
      </p>
    </EmptyState>
  )
}
