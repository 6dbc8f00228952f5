import { Hono } from "hono"
import type { Child } from "hono/jsx"
import { z } from "zod"
import { BATCH_EXAMPLE } from "../../api/input/batch.ts"
import { getPublicOrigin } from "../../api/input/request.ts"
import { deliveryRecordSchema } from "../../api/routes/webhooks/record.ts"
import { batchRecordSchema, batchSummarySchema } from "../../kinds/batch-record.ts"
import { unwrapApiResult } from "../api.ts"
import type { ApiRequestResult } from "../api.ts"
import { StatusBadge } from "../components/badge.tsx"
import { Card } from "../components/card.tsx"
import { CodeBlock } from "../components/code-block.tsx"
import { EmptyState } from "../components/empty-state.tsx"
import { LiveRegion, PollMarker } from "../components/live.tsx"
import { Pager } from "../components/pager.tsx"
import { Table } from "../components/table.tsx"
import { RelativeTime } from "../components/time.tsx"
import { readEncodedPathId } from "../context.ts"
import type { PageContext, PageEnv } from "../context.ts"
import { redirectWithMessage } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { buildNextPagePath, readDashboardListQuery } from "../list-page.ts"
import { BatchDetail } from "./batches/detail.tsx"

/** Pages of the account's batches: a list, and a page for each batch that follows its jobs. */
export const batchPages = new Hono<PageEnv>()

const PATH = "/batches"
const SCRIPTS = ["live.client.js"] as const

batchPages.get(PATH, async (c) => {
  const { query, isFirstPage } = readDashboardListQuery(c, [])
  const answer = await c.get("api")(`/batches?${query.toString()}`, z.array(batchSummarySchema))
  return await showPage(
    c,
    {
      title: "Batches",
      section: "batches",
      lead: "Jobs that one request created together, newest first. Open batches update automatically.",
      scripts: SCRIPTS,
    },
    <BatchTable
      batches={unwrapApiResult(answer)}
      next={buildNextPagePath(PATH, answer)}
      empty={isFirstPage ? <NoBatches origin={getPublicOrigin(c)} /> : <NoOlderBatches />}
    />,
  )
})

batchPages.get(`${PATH}/:id`, async (c) => {
  const [answer, deliveries] = await Promise.all([
    c.get("api")(`${PATH}/${readEncodedPathId(c)}`, batchRecordSchema),
    c.get("api")(
      `/webhooks/deliveries?job_id=${readEncodedPathId(c)}`,
      z.array(deliveryRecordSchema),
    ),
  ])
  const batch = unwrapApiResult(answer)
  return await showPage(
    c,
    { title: `Batch ${batch.id.slice(-8)}`, section: "batches", scripts: SCRIPTS },
    <BatchDetail batch={batch} deliveries={deliveries.ok ? deliveries.value : []} />,
  )
})

batchPages.post(`${PATH}/:id/cancel`, async (c) => {
  return redirectToBatch(c, await post(c, "/cancel"), "The open jobs of the batch were canceled.")
})

batchPages.post(`${PATH}/:id/retry`, async (c) => {
  return redirectToBatch(c, await post(c, "/retry"), "The failed jobs run again as this new batch.")
})

batchPages.post(`${PATH}/:id/delete`, async (c) => {
  const path = `${PATH}/${readEncodedPathId(c)}`
  unwrapApiResult(await c.get("api")(path, z.object({}), { method: "DELETE" }))
  return redirectWithMessage(c, PATH, "The batch, its jobs and their files were deleted.")
})

async function post(c: PageContext, action: "/cancel" | "/retry") {
  const path = `${PATH}/${readEncodedPathId(c)}${action}`
  return await c.get("api")(path, batchSummarySchema, { method: "POST" })
}

/** Redirects to the batch of an answer with a message, or back to the page with the refusal. */
function redirectToBatch(
  c: PageContext,
  answer: ApiRequestResult<z.infer<typeof batchSummarySchema>>,
  message: string,
): Response {
  if (answer.ok) return redirectWithMessage(c, `${PATH}/${answer.value.id}`, message)
  if (answer.status === 404) unwrapApiResult(answer)
  return redirectWithMessage(c, `${PATH}/${readEncodedPathId(c)}`, answer.message, "bad")
}

/** Table with one page of batches. */
function BatchTable(props: {
  batches: z.infer<typeof batchSummarySchema>[]
  next: string | null
  empty: Child
}) {
  const { batches, next, empty } = props
  return (
    <Card title="All batches">
      <PollMarker isOpen={batches.some(({ open_jobs: open }) => open > 0)} />
      <Table
        caption="Batches"
        columns={[
          "Batch",
          "Status",
          { title: "Open", isNumeric: true },
          { title: "Failed", isNumeric: true },
          { title: "Jobs", isNumeric: true },
          "Created",
        ]}
        rows={batches.map(batchRow)}
        empty={empty}
      />
      <Pager next={next} />
    </Card>
  )
}

function batchRow(batch: z.infer<typeof batchSummarySchema>) {
  const { id, status, open_jobs: open, failed_jobs: failed, total_jobs: total } = batch
  return [
    <a class="name" href={`${PATH}/${id}`}>
      batch <code class="soft">{id.slice(-8)}</code>
    </a>,
    <LiveRegion id={`status-${id}`} as="span">
      <StatusBadge status={status} />
    </LiveRegion>,
    <LiveRegion id={`open-${id}`} as="span">
      {open}
    </LiveRegion>,
    <LiveRegion id={`failed-${id}`} as="span">
      {failed}
    </LiveRegion>,
    total,
    <RelativeTime at={batch.created_at} />,
  ]
}

function NoBatches({ origin }: { origin: string }) {
  const request = [
    `curl ${origin}/v1/batches \\`,
    `  -H "X-API-Key: $LATHE_KEY" -H "Content-Type: application/json" \\`,
    `  -d '${JSON.stringify(BATCH_EXAMPLE, null, 2)}'`,
  ].join("\n")
  return (
    <EmptyState title="No batches yet">
      <p>
        One request creates up to 64 jobs, which read each other's outputs as{" "}
        <code>svc_id://name/output</code>.
      </p>
      <CodeBlock label="A request that creates a batch" text={request} />
    </EmptyState>
  )
}

function NoOlderBatches() {
  return (
    <EmptyState title="No older batches">
      <p>
        <a href={PATH}>Show the newest batches</a>
      </p>
    </EmptyState>
  )
}
