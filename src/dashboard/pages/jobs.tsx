import { Hono } from "hono"
import { z } from "zod"
import { jobRecord } from "../../kinds/job-record.ts"
import { deliveryRecord } from "../../resources/webhooks/record.ts"
import { findJob } from "../../storage/jobs.ts"
import { databaseOf } from "../../storage/database.ts"
import { hydrateJob } from "../../storage/hydrate.ts"
import { valueOf } from "../api.ts"
import type { ApiAnswer } from "../api.ts"
import type { PageContext, Pages } from "../context.ts"
import { redirectWith } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { nextPage, readListQuery } from "../list-page.ts"
import { JobDetail, jobTitle } from "./jobs/detail.tsx"
import { JOB_FILTERS, JobTable } from "./jobs/list.tsx"

/** The account's jobs: a list, and a page of each that follows it to its end. */
export const jobs = new Hono<Pages>()

const PATH = "/jobs"
const SCRIPTS = ["live.client.js"] as const

jobs.get(PATH, async (c) => {
  const { filters, query, isFirstPage } = readListQuery(c, JOB_FILTERS)
  const answer = await c.get("api")(`/jobs?${query.toString()}`, z.array(jobRecord))
  return await showPage(
    c,
    {
      title: "Jobs",
      section: "jobs",
      lead: "Everything this account has run, newest first. Open jobs update by themselves.",
      scripts: SCRIPTS,
    },
    <JobTable
      jobs={valueOf(answer)}
      filters={filters}
      next={nextPage(PATH, answer)}
      isFirstPage={isFirstPage}
    />,
  )
})

jobs.get(`${PATH}/:id`, async (c) => {
  const [answer, deliveries, request] = await Promise.all([
    c.get("api")(`/jobs/${pathId(c)}`, jobRecord),
    c.get("api")(`/webhooks/deliveries?job_id=${pathId(c)}`, z.array(deliveryRecord)),
    findRequest(c),
  ])
  const job = valueOf(answer)
  return await showPage(
    c,
    { title: jobTitle(job), section: "jobs", scripts: SCRIPTS },
    <JobDetail job={job} request={request} deliveries={deliveries.ok ? deliveries.value : []} />,
  )
})

jobs.post(`${PATH}/:id/cancel`, async (c) => {
  const answer = await post(c, "/cancel")
  if (answer.ok) return redirectWith(c, `/jobs/${answer.value.id}`, "The job was canceled.")
  return refuse(c, answer)
})

jobs.post(`${PATH}/:id/retry`, async (c) => {
  const answer = await post(c, "/retry")
  const said = "This is the job once more, as a new one."
  if (answer.ok) return redirectWith(c, `/jobs/${answer.value.id}`, said)
  return refuse(c, answer)
})

jobs.post(`${PATH}/:id/delete`, async (c) => {
  const answer = await c.get("api")(`/jobs/${pathId(c)}`, z.object({}), { method: "DELETE" })
  valueOf(answer)
  return redirectWith(c, PATH, "The job was deleted, with what it made.")
})

async function post(c: PageContext, action: "/cancel" | "/retry") {
  return await c.get("api")(`/jobs/${pathId(c)}${action}`, jobRecord, { method: "POST" })
}

/** Back to the page of a job, which says why it stays as it is. */
function refuse(c: PageContext, answer: Exclude<ApiAnswer<unknown>, { ok: true }>): Response {
  if (answer.status === 404) valueOf(answer)
  return redirectWith(c, `/jobs/${pathId(c)}`, answer.message, "bad")
}

/** What a job was asked for as it is kept; the records of the API have no request of some kinds. */
async function findRequest(c: PageContext): Promise<unknown> {
  const database = databaseOf(c.env, c.get("signedIn").account.id)
  const job = await findJob(database, (c.req.param("id") ?? "").toLowerCase())
  return job && (await hydrateJob(c.env.MEDIA, job)).request
}

function pathId(c: PageContext): string {
  return encodeURIComponent(c.req.param("id") ?? "")
}
