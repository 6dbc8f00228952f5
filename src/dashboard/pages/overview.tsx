import { Hono } from "hono"
import { z } from "zod"
import { publicOrigin } from "../../http/request.ts"
import { jobRecord } from "../../kinds/job-record.ts"
import type { JobRecord } from "../../kinds/job-record.ts"
import { accountRecord } from "../../resources/account/record.ts"
import { valueOf } from "../api.ts"
import { Badge } from "../components/badge.tsx"
import { Card } from "../components/card.tsx"
import { LimitBars } from "../components/limit-bars.tsx"
import { Table } from "../components/table.tsx"
import { Time } from "../components/time.tsx"
import type { Pages } from "../context.ts"
import { showPage } from "../layout.tsx"
import { JobLink, JobStatus } from "./jobs/state.tsx"
import { FirstSteps } from "./overview/first-steps.tsx"

/** What runs, what was done last, and how much of the plan is used. */
export const overview = new Hono<Pages>()

const LAST_JOBS = 8

const keyRow = z.object({ revoked_at: z.string().nullable() })

overview.get("/", async (c) => {
  const api = c.get("api")
  const answers = await Promise.all([
    api("/account", accountRecord),
    api(`/jobs?limit=${LAST_JOBS}`, z.array(jobRecord)),
    api("/keys?limit=1", z.array(keyRow)),
  ])
  const [account, jobs, keys] = [valueOf(answers[0]), valueOf(answers[1]), valueOf(answers[2])]
  const facts = {
    title: "Overview",
    section: "overview" as const,
    actions: jobs.length > 0 && (
      <a class="button primary" href="/playground">
        Run a command
      </a>
    ),
  }
  const content = (
    <>
      <Card title="Now" actions={<PlanLink plan={account.plan} />}>
        <LimitBars account={account} />
      </Card>
      {jobs.length === 0 ? (
        <FirstSteps origin={publicOrigin(c)} hasKey={keys.length > 0} />
      ) : (
        <LastJobs jobs={jobs} />
      )}
    </>
  )
  return await showPage(c, facts, content)
})

function PlanLink({ plan }: { plan: string }) {
  return (
    <>
      <Badge tone="idle">{plan}</Badge>
      <a href="/usage">Usage and plan</a>
    </>
  )
}

function LastJobs({ jobs }: { jobs: readonly JobRecord[] }) {
  return (
    <Card title="Last jobs" actions={<a href="/jobs">All jobs</a>}>
      <Table
        caption="Last jobs"
        columns={["Job", "Status", "Created"]}
        rows={jobs.map((job) => [
          <JobLink job={job} />,
          <JobStatus job={job} />,
          <Time at={job.created_at} />,
        ])}
      />
    </Card>
  )
}
