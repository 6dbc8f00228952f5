import { Hono } from "hono"
import type { Child } from "hono/jsx"
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
const deliveryRow = z.object({ id: z.string() })

overviewPage.get("/", async (c) => {
  const api = c.get("api")
  const answers = await Promise.all([
    api("/account", accountRecordSchema),
    api(`/jobs?limit=${LAST_JOBS}`, z.array(jobRecordSchema)),
    api("/keys?limit=1", z.array(keyRow)),
    api("/webhooks/deliveries?limit=1", z.array(deliveryRow)),
  ])
  const account = unwrapApiResult(answers[0])
  const jobs = unwrapApiResult(answers[1])
  const steps = {
    hasKey: unwrapApiResult(answers[2]).length > 0,
    hasFile: jobs.some(({ kind }) => kind === "file"),
    hasCommand: jobs.some(({ kind }) => kind !== "file"),
    hasWebhook: unwrapApiResult(answers[3]).length > 0,
  }
  // An account with many jobs needs no steps, whichever of them it left out.
  const isNew = jobs.length < LAST_JOBS && !(steps.hasCommand && steps.hasWebhook)
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
      {isNew && <FirstSteps origin={getPublicOrigin(c)} steps={steps} />}
      {jobs.length > 0 && <LastJobs jobs={jobs} />}
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

/** Steps that the account has done. */
type Steps = { hasKey: boolean; hasFile: boolean; hasCommand: boolean; hasWebhook: boolean }

/** Guide for a new account: create a key, upload a file, run a command, hear of its end. */
function FirstSteps({ origin, steps }: { origin: string; steps: Steps }) {
  return (
    <Card title="First steps" actions={<a href="/docs/start">Start in ten minutes</a>}>
      <ol class="steps">
        <Step title="Create a key" isDone={steps.hasKey}>
          <p class="soft">Your programs send the key with each request.</p>
          <p>
            <LinkButton to="/keys/new" tone="primary" text="Create a key" />
          </p>
        </Step>
        <Step title="Upload a file" isDone={steps.hasFile}>
          <p class="soft">
            Add a file <a href="/files">on the page Files</a>, or by a request. Replace YOUR_KEY by
            your key, and the name by that of your file.
          </p>
          <CodeBlock label="A request that uploads a file" text={uploadRequest(origin)} />
        </Step>
        <Step title="Run a command" isDone={steps.hasCommand}>
          <p class="soft">
            The example needs no file: it makes a two-second test video. With{" "}
            <code>"in_1": "svc_id://…"</code> in <code>input_files</code> and the id of a file, a
            command reads that file as <code>{"{{in_1}}"}</code>.{" "}
            <a href="/playground">The playground</a> builds and runs commands, and the{" "}
            <a href="/docs/cookbook/">cookbook</a> has twenty solutions.
          </p>
          <CodeBlock label="A request that runs a command" text={firstCommand(origin)} />
        </Step>
        <Step title="Hear of the end of a job" isDone={steps.hasWebhook}>
          <p class="soft">
            <a href="/webhooks">Add an endpoint</a>, or name a URL as <code>webhook</code> in a
            request: the service posts the record of each job that has ended.{" "}
            <a href="/docs/guide/verify-webhooks">Verify webhooks</a> has the code of a receiver.
          </p>
        </Step>
      </ol>
    </Card>
  )
}

function Step(props: { title: string; isDone: boolean; children: Child }) {
  return (
    <li>
      <h3>
        {props.title} {props.isDone && <Badge tone="good">done</Badge>}
      </h3>
      {!props.isDone && props.children}
    </li>
  )
}

const FIRST_COMMAND = {
  ffmpeg_command: "ffmpeg -f lavfi -i testsrc=duration=2 {{out_1}}",
  input_files: {},
  output_files: { out_1: "first.mp4" },
}

function uploadRequest(origin: string): string {
  return `curl ${origin}/v1/files -H "x-api-key: YOUR_KEY" -F file=@clip.mp4`
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
