import { Hono } from "hono"
import { z } from "zod"
import { accountRecordSchema, usageRecordSchema } from "../../api/routes/account-record.ts"
import type { AccountRecord, UsageRecord } from "../../api/routes/account-record.ts"
import { unwrapApiResult } from "../api.ts"
import { BarChart } from "../components/bar-chart.tsx"
import { Card } from "../components/card.tsx"
import { EmptyState } from "../components/empty-state.tsx"
import {
  formatLimitAmount,
  formatCount,
  formatDuration,
  getUsageLimitTitle,
} from "../components/format.ts"
import { Table } from "../components/table.tsx"
import type { PageEnv } from "../context.ts"
import { showPage } from "../layout.tsx"
import { LIMIT_FIELDS, buildLimitRecord } from "../../domain/plan-fields.ts"
import type { LimitName } from "../../domain/plan-fields.ts"
import { Badge } from "../components/badge.tsx"
import { DescriptionList } from "../components/description-list.tsx"
import { LimitBars } from "../components/limit-bars.tsx"
import { formatUtcDay } from "../../db/accounts/account-limits.ts"

/** Page with the account's plan, limits and usage of the last 30 days. */
export const usagePages = new Hono<PageEnv>()

const DAYS = 30

usagePages.get("/usage", async (c) => {
  const api = c.get("api")
  const [account, usage] = await Promise.all([
    api("/account", accountRecordSchema),
    api(`/account/usage?days=${DAYS}`, z.array(usageRecordSchema)),
  ])
  const rows = unwrapApiResult(usage)
  const days = sumUsageByDay(rows, DAYS, Date.now())
  const facts = { title: "Usage and plan", section: "usage" as const }
  const content = (
    <>
      <PlanCard account={unwrapApiResult(account)} />
      <div class="columns narrow">
        <DayChart title="Requests" name="requests" days={days} />
        <DayChart title="Jobs" name="jobs" days={days} />
        <DayChart title="Fetches" name="fetches" days={days} />
      </div>
      <KeyCard keys={sumUsageByKey(rows)} />
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
          <EmptyState title="No usage in these days">
            <p>
              Run a command in the <a href="/playground">playground</a>, or{" "}
              <a href="/keys/new">create a key</a> for your programs.
            </p>
          </EmptyState>
        }
      />
    </Card>
  )
}

/** Table with the numbers of the charts. */
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

/**
 * Card with the plan's limits: bars for limits whose use is known, and a list for limits of single
 * requests.
 */
function PlanCard({ account }: { account: AccountRecord }) {
  const { limits, usage, plan } = account
  const others = limitNames()
    .filter((name) => usage[name] === null)
    .map((name) => [getUsageLimitTitle(name), <Bound name={name} limit={limits[name]} />] as const)
  return (
    <Card title="Plan and limits" actions={<Badge tone="idle">{plan}</Badge>}>
      <LimitBars account={account} />
      <DescriptionList rows={others} />
      <p class="soft">
        The operator of this service sets the plan. To change it, ask the operator and name the
        account <code>{account.id}</code>.
      </p>
    </Card>
  )
}

function Bound({ name, limit }: { name: LimitName; limit: number }) {
  return (
    <>
      at most {formatLimitAmount(name, limit)}{" "}
      <span class="hint">{LIMIT_FIELDS[name].meaning}</span>
    </>
  )
}

function limitNames(): LimitName[] {
  return Object.values(buildLimitRecord((_, name) => name))
}

/** Fields of a usage record that are summed by day or by API key. */
type Sums = Pick<
  UsageRecord,
  "requests" | "jobs" | "fetches" | "succeeded_jobs" | "failed_jobs" | "processing_seconds"
>

type DaySums = Sums & { day: string }
type KeySums = Sums & { title: string }

const DAY_MS = 86_400_000

/**
 * Returns the usage sums of all keys for each of the last days, oldest day first. Days without
 * usage have zero sums.
 */
export function sumUsageByDay(
  rows: readonly UsageRecord[],
  days: number,
  nowMs: number,
): DaySums[] {
  const rowsByDay = Map.groupBy(rows, ({ day }) => day)
  return Array.from({ length: days }, (_, at) => {
    const day = formatUtcDay(nowMs - (days - 1 - at) * DAY_MS)
    return { day, ...add(rowsByDay.get(day) ?? []) }
  })
}

/** Returns the usage sums of each API key, sorted by the number of requests, largest first. */
export function sumUsageByKey(rows: readonly UsageRecord[]): KeySums[] {
  const rowsByKey = Map.groupBy(rows, ({ key_id: id }) => id)
  return [...rowsByKey.values()]
    .map((some) => ({ title: titleOf(some[0]), ...add(some) }))
    .toSorted((one, other) => other.requests - one.requests || other.jobs - one.jobs)
}

/**
 * Returns the sums of the fields of usage rows: the rows of a day, of an API key or of all days.
 */
function add(rows: readonly Sums[]): Sums {
  return {
    requests: sum(rows, "requests"),
    jobs: sum(rows, "jobs"),
    fetches: sum(rows, "fetches"),
    succeeded_jobs: sum(rows, "succeeded_jobs"),
    failed_jobs: sum(rows, "failed_jobs"),
    processing_seconds: sum(rows, "processing_seconds"),
  }
}

function sum(rows: readonly Sums[], name: keyof Sums): number {
  return rows.reduce((total, row) => total + row[name], 0)
}

function titleOf(row: UsageRecord | undefined): string {
  if (!row || row.key_id === null) return "Dashboard"
  return row.key_name || `Key ${row.key_id.slice(0, 8)}…`
}
