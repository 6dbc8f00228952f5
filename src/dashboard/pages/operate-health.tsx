import { Hono } from "hono"
import type { Child } from "hono/jsx"
import type { DegradedReason, RunnerHealth } from "../../contract/runner-health.ts"
import { listMissingTools } from "../../contract/runner-health.ts"
import { readServiceState } from "../../upkeep/service-state.ts"
import type { ServiceState } from "../../upkeep/service-state.ts"
import { Badge } from "../components/badge.tsx"
import { Card } from "../components/card.tsx"
import { EmptyState } from "../components/empty-state.tsx"
import { DescriptionList } from "../components/description-list.tsx"
import { formatBytes, formatCount } from "../components/format.ts"
import { Notice } from "../components/notice.tsx"
import { Table } from "../components/table.tsx"
import { RelativeTime } from "../components/time.tsx"
import type { PageEnv } from "../context.ts"
import { showPage } from "../layout.tsx"
import { requireOperator } from "../operator.ts"

/** Operator's page with the health of the service: queues, runners and storage. */
export const operatorHealthPage = new Hono<PageEnv>()

operatorHealthPage.get("/operate/health", requireOperator, async (c) => {
  const state = await readServiceState(c.env)
  return showPage(
    c,
    { title: "Health", section: "health" },
    <>
      <Summary reasons={state.reasons} />
      <QueueCard state={state} />
      <PoolsCard state={state} />
      {state.runner !== null && <RunnerCard runner={state.runner} />}
      <StoresCard state={state} />
    </>,
  )
})

const SENTENCES: Record<DegradedReason, string> = {
  container_not_started:
    "No container has started for a minute or more, so jobs wait. The log (runner.not_started) has the reason; the platform may lack capacity, or max_instances may be too small.",
  database_filling:
    "The database has reached 80 % of its size limit. Keep finished jobs for fewer days (JOB_DAYS_MAX, RETENTION_DAYS), or spread accounts over more databases.",
  disk_full:
    "The disk of this machine has less free space than its reserve. Uploads are refused and tasks with outputs do not start: free disk space, or delete files.",
  runner_unreachable:
    "The runner does not answer, so jobs wait. The service restarts it; the log has the reason of its end.",
  sandbox_failed:
    "A runner has no sandbox for its tools and takes no tasks. The log (sandbox.refused) has the reason.",
  slot_not_ended:
    "A silent container could not be stopped, so its slot is unused. The pool tries again.",
  ytdlp_update_failed:
    "The yt-dlp of YTDLP_VERSION could not be installed; fetches use the built-in version.",
}

function Summary(props: { reasons: DegradedReason[] }) {
  if (props.reasons.length === 0) return <Notice tone="good">All is well.</Notice>
  return (
    <Notice tone="bad">
      {props.reasons.map((reason) => (
        <p>{SENTENCES[reason]}</p>
      ))}
    </Notice>
  )
}

const COUNT_COLUMNS = ["State", { title: "Count", isNumeric: true }, "Oldest since"] as const

function QueueCard({ state }: { state: ServiceState }) {
  const { jobs, tasks, deliveries, deadLetters } = state
  return (
    <Card title="Queue">
      <Table
        caption="Open jobs by kind"
        columns={["Kind", ...COUNT_COLUMNS]}
        rows={jobs.map(openRow)}
        empty={
          <EmptyState title="No open jobs">
            <p>All jobs have ended.</p>
          </EmptyState>
        }
      />
      {tasks.length > 0 && (
        <Table
          caption="Open tasks by pool"
          columns={["Pool", ...COUNT_COLUMNS]}
          rows={tasks.map(openRow)}
        />
      )}
      <DescriptionList
        rows={[
          ["Webhooks waiting", `${formatCount(deliveries.waiting)}, ${deliveries.due} of them due`],
          ["Failed webhooks of the last day", formatCount(deliveries.failed)],
          ["Dead letters", <a href="/operate/dead-letters">{formatCount(deadLetters)}</a>],
        ]}
      />
    </Card>
  )
}

function openRow({ name, state, count, oldestAt }: ServiceState["jobs"][number]): Child[] {
  const tone = state === "running" ? "busy" : "idle"
  return [
    name,
    <Badge tone={tone}>{state}</Badge>,
    formatCount(count),
    <RelativeTime at={oldestAt} />,
  ]
}

function PoolsCard({ state }: { state: ServiceState }) {
  return (
    <Card title="Runners">
      <Table
        caption="Pools of runners"
        columns={[
          "Pool",
          { title: "Slots", isNumeric: true },
          { title: "In use", isNumeric: true },
          { title: "Accounts waiting", isNumeric: true },
        ]}
        rows={state.pools.map((pool) =>
          pool.slots === null
            ? [pool.name, "–", "The pool did not answer.", "–"]
            : [pool.name, pool.slots, pool.used, pool.waitingAccounts],
        )}
      />
    </Card>
  )
}

function RunnerCard({ runner }: { runner: RunnerHealth | "unreachable" }) {
  if (runner === "unreachable") {
    return (
      <Card title="This machine's runner">
        <p>The runner does not answer.</p>
      </Card>
    )
  }
  const { sandbox, speech } = runner
  const missing = listMissingTools(runner).map(({ name, reason }) => `${name}: ${reason}`)
  return (
    <Card title="This machine's runner">
      <DescriptionList
        rows={[
          ["Sandbox", describeSandbox(sandbox)],
          ["ffmpeg", runner.ffmpeg ?? "unknown"],
          ["ffprobe", runner.ffprobe ?? "unknown"],
          ["yt-dlp", describeYtdlp(runner)],
          ["Speech", speech ? `${speech.engine}, models ${speech.models.join(", ")}` : "none"],
          ["Missing tools", missing.length > 0 ? missing.join("; ") : "nothing"],
        ]}
      />
    </Card>
  )
}

function describeSandbox({ ok, problem, loss }: RunnerHealth["sandbox"]): string {
  if (!ok) return `none: ${problem ?? "its self-test failed"}`
  return loss === null ? "passed its self-test" : `passed its self-test, without: ${loss}`
}

function describeYtdlp({ "yt-dlp": version = "unknown", ytdlp_update: update }: RunnerHealth) {
  if (!update || update.state === "installed") return version
  const target = update.version ?? "another one"
  return `${version}; ${target} is ${update.state === "failed" ? "not installed" : "being installed"}`
}

function StoresCard({ state }: { state: ServiceState }) {
  const { storage, databaseBytes, disk } = state
  const files = `${formatBytes(storage.bytes)} of ${formatCount(storage.accounts)} ${storage.accounts === 1 ? "account" : "accounts"}`
  return (
    <Card title="Storage">
      <DescriptionList
        rows={[
          ["Files", files],
          ["Database", databaseBytes === null ? "unknown" : formatBytes(databaseBytes)],
          ...(disk ? [["Disk of this machine", describeDisk(disk)] as [string, Child]] : []),
        ]}
      />
    </Card>
  )
}

function describeDisk({ freeBytes, totalBytes }: NonNullable<ServiceState["disk"]>): string {
  return `${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} free`
}
