import { Hono } from "hono"
import { z } from "zod"
import { accountRecord, usageRecord } from "../../resources/account/record.ts"
import { valueOf } from "../api.ts"
import { BarChart } from "../components/bar-chart.tsx"
import { Card } from "../components/card.tsx"
import { EmptyState } from "../components/empty-state.tsx"
import { formatCount, formatDuration } from "../components/format.ts"
import { Table } from "../components/table.tsx"
import type { Pages } from "../context.ts"
import { showPage } from "../layout.tsx"
import { PlanCard } from "./usage/plan-card.tsx"
import { add, sumByDay, sumByKey } from "./usage/sum-usage.ts"
import type { DaySums, KeySums, Sums } from "./usage/sum-usage.ts"

/** What the account may, and what it used. */
export const usagePages = new Hono<Pages>()

const DAYS = 30

usagePages.get("/usage", async (c) => {
  const api = c.get("api")
  const [account, usage] = await Promise.all([
    api("/account", accountRecord),
    api(`/account/usage?days=${DAYS}`, z.array(usageRecord)),
  ])
  const rows = valueOf(usage)
  const days = sumByDay(rows, DAYS, Date.now())
  const facts = { title: "Usage and plan", section: "usage" as const }
  const content = (
    <>
      <PlanCard account={valueOf(account)} />
      <div class="columns narrow">
        <DayChart title="Requests" name="requests" days={days} />
        <DayChart title="Jobs" name="jobs" days={days} />
        <DayChart title="Fetches" name="fetches" days={days} />
      </div>
      <KeyCard keys={sumByKey(rows)} />
      <DaysCard days={days} />
    </>
  )
  return await showPage(c, facts, content)
})

type ChartFacts = { title: string; name: "requests" | "jobs" | "fetches"; days: DaySums[] }

function DayChart({ title, name, days }: ChartFacts) {
  const bars = days.map((sums) => ({ day: sums.day, value: sums[name] }))
  return (
    <Card
      title={title}
      actions={<span class="soft">{formatCount(add(days)[name])} in 30 days</span>}
    >
      <BarChart title={title} bars={bars} />
    </Card>
  )
}

const AMOUNTS = ["Requests", "Jobs", "Succeeded", "Failed", "Fetches", "Processing time"].map(
  (title) => ({ title, isNumeric: true as const }),
)

function cellsOf(sums: Sums): string[] {
  return [
    formatCount(sums.requests),
    formatCount(sums.jobs),
    formatCount(sums.succeeded_jobs),
    formatCount(sums.failed_jobs),
    formatCount(sums.fetches),
    formatDuration(sums.processing_seconds),
  ]
}

function KeyCard({ keys }: { keys: KeySums[] }) {
  return (
    <Card title={`By key, ${DAYS} days`}>
      <Table
        caption="Usage by key"
        columns={["Key", ...AMOUNTS]}
        rows={keys.map((sums) => [sums.title, ...cellsOf(sums)])}
        empty={
          <EmptyState title="Nothing was used in these days">
            <p>
              Run something in the <a href="/playground">playground</a>, or{" "}
              <a href="/keys/new">create a key</a> for your programs.
            </p>
          </EmptyState>
        }
      />
    </Card>
  )
}

/** The numbers of the charts, for who would rather read them. */
function DaysCard({ days }: { days: DaySums[] }) {
  return (
    <details class="card">
      <summary>By day</summary>
      <Table
        caption="Usage by day"
        columns={["Day (UTC)", ...AMOUNTS]}
        rows={days.toReversed().map((sums) => [sums.day, ...cellsOf(sums)])}
      />
    </details>
  )
}
