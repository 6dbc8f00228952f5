import { Hono } from "hono"
import { z } from "zod"
import { getPublicOrigin } from "../../api/input/request.ts"
import { jobRecordSchema } from "../../kinds/job-record.ts"
import type { JobRecord } from "../../kinds/job-record.ts"
import { accountRecordSchema } from "../../api/routes/account-record.ts"
import { unwrapApiResult } from "../api.ts"
import { LinkButton } from "../components/buttons.tsx"
import { Badge } from "../components/badge.tsx"
import { Card } from "../components/card.tsx"
import { LimitBars } from "../components/limit-bars.tsx"
import { Table } from "../components/table.tsx"
import { RelativeTime } from "../components/time.tsx"
import type { PageEnv } from "../context.ts"
import { showPage } from "../layout.tsx"
import { JobLink, JobStatusBadge } from "./jobs/state.tsx"
import { CodeBlock } from "../components/code-block.tsx"

/** Page with the use of the plan and the latest jobs. */
export const overviewPage = new Hono<PageEnv>()

const LAST_JOBS = 8

const keyRow = z.object({ revoked_at: z.string().nullable() })

overviewPage.get("/", async (c) => {
  const api = c.get("api")
  const answers = await Promise.all([
    api("/account", accountRecordSchema),
    api(`/jobs?limit=${LAST_JOBS}`, z.array(jobRecordSchema)),
    api("/keys?limit=1", z.array(keyRow)),
  ])
  const [account, jobs, keys] = [
    unwrapApiResult(answers[0]),
    unwrapApiResult(answers[1]),
    unwrapApiResult(answers[2]),
  ]
  const facts = {
    title: "Overview",
    section: "overview" as const,
    actions: jobs.length > 0 && <LinkButton to="/playground" tone="primary" text="Run a command" />,
  }
  const content = (
    <>
      <Card title="Now" actions={<PlanLink plan={account.plan} />}>
        <LimitBars account={account} />
      </Card>
      {jobs.length === 0 ? (
        <FirstSteps origin={getPublicOrigin(c)} hasKey={keys.length > 0} />
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
          <JobStatusBadge job={job} />,
          <RelativeTime at={job.created_at} />,
        ])}
      />
    </Card>
  )
}

/** Guide for a new account: create a key, send a request, open the playground. */
function FirstSteps({ origin, hasKey }: { origin: string; hasKey: boolean }) {
  return (
    <Card title="First steps">
      <ol class="steps">
        <li>
          <h3>{hasKey ? "The account has a key" : "Create a key"}</h3>
          <p class="soft">Your programs send the key with each request.</p>
          {!hasKey && (
            <p>
              <LinkButton to="/keys/new" tone="primary" text="Create a key" />
            </p>
          )}
        </li>
        <li>
          <h3>Run a command</h3>
          <p class="soft">
            The example needs no file: it makes a two-second test video. Replace YOUR_KEY by your
            key.
          </p>
          <CodeBlock label="A request that runs a command" text={firstCommand(origin)} />
        </li>
        <li>
          <h3>Try a command here</h3>
          <p class="soft">The playground builds commands and runs them on your files.</p>
          <p>
            <LinkButton to="/playground" text="Open the playground" />
          </p>
        </li>
      </ol>
    </Card>
  )
}

const FIRST_COMMAND = {
  ffmpeg_command: "ffmpeg -f lavfi -i testsrc=duration=2 {{out_1}}",
  input_files: {},
  output_files: { out_1: "first.mp4" },
}

/** Returns a curl command with a placeholder for the API key. */
function firstCommand(origin: string): string {
  return [
    `curl ${origin}/v1/commands \\`,
    `  -H "x-api-key: YOUR_KEY" \\`,
    `  -H "content-type: application/json" \\`,
    `  -d '${JSON.stringify(FIRST_COMMAND, null, 2)}'`,
  ].join("\n")
}
