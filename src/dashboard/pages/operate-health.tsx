import { Hono } from "hono"
import type { Child } from "hono/jsx"
import type { DegradedReason, RunnerHealth } from "../../contract/runner-health.ts"
import { missingTools } from "../../contract/runner-health.ts"
import { readServiceState } from "../../pipeline/upkeep/service-state.ts"
import type { ServiceState } from "../../pipeline/upkeep/service-state.ts"
import { Badge } from "../components/badge.tsx"
import { Card } from "../components/card.tsx"
import { EmptyState } from "../components/empty-state.tsx"
import { Facts } from "../components/facts.tsx"
import { formatBytes, formatCount } from "../components/format.ts"
import { Notice } from "../components/notice.tsx"
import { Table } from "../components/table.tsx"
import { Time } from "../components/time.tsx"
import type { Pages } from "../context.ts"
import { showPage } from "../layout.tsx"
import { requireOperator } from "../operator.ts"

/** How the service is, for its operator. */
export const operateHealth = new Hono<Pages>()

operateHealth.get("/operate/health", requireOperator, async (c) => {
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
    "For a minute and more a container could not be started: jobs wait. Lines in the log (runner.not_started) say why; the platform may have no room, or max_instances may be too small.",
  database_filling:
    "The database has four fifths of the bytes that it may have. Keep finished jobs for fewer days (JOB_DAYS_MAX, RETENTION_DAYS), or spread accounts over more databases.",
  disk_full:
    "The disk of this machine has less room than its reserve: uploads are refused, and no task that stores anything begins. Free some of it, or delete files.",
  runner_unreachable:
    "The runner does not answer: jobs wait. It is started again by itself; its lines in the log say why it ended.",
  sandbox_failed:
    "A runner has no sandbox for its tools, and takes no tasks: its lines in the log (sandbox.refused) say why.",
  slot_not_ended:
    "A container that fell silent could not be ended, so that its slot is not used; the pool tries again.",
  ytdlp_update_failed:
    "The yt-dlp that YTDLP_VERSION names could not be installed: fetches use the built-in one.",
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
            <p>Every job that was created is over.</p>
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
      <Facts
        rows={[
          ["Webhooks waiting", `${formatCount(deliveries.waiting)}, ${deliveries.due} of them due`],
          ["Webhooks given up in the last day", formatCount(deliveries.failed)],
          ["Dead letters", <a href="/operate/dead-letters">{formatCount(deadLetters)}</a>],
        ]}
      />
    </Card>
  )
}

function openRow({ name, state, count, oldestAt }: ServiceState["jobs"][number]): Child[] {
  const tone = state === "running" ? "busy" : "idle"
  return [name, <Badge tone={tone}>{state}</Badge>, formatCount(count), <Time at={oldestAt} />]
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
            ? [pool.name, "–", "It did not answer.", "–"]
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
        <p>It does not answer.</p>
      </Card>
    )
  }
  const { sandbox, speech } = runner
  const missing = missingTools(runner).map(({ name, reason }) => `${name}: ${reason}`)
  return (
    <Card title="This machine's runner">
      <Facts
        rows={[
          ["Sandbox", describeSandbox(sandbox)],
          ["ffmpeg", runner.ffmpeg ?? "unknown"],
          ["ffprobe", runner.ffprobe ?? "unknown"],
          ["yt-dlp", describeYtdlp(runner)],
          ["Speech", speech ? `${speech.engine}, models ${speech.models.join(", ")}` : "none"],
          ["What is missing", missing.length > 0 ? missing.join("; ") : "nothing"],
        ]}
      />
    </Card>
  )
}

function describeSandbox({ ok, problem, loss }: RunnerHealth["sandbox"]): string {
  if (!ok) return `None: ${problem ?? "its self-test failed"}`
  return loss === null ? "It passed its self-test." : `It passed its self-test, without: ${loss}`
}

function describeYtdlp({ "yt-dlp": version = "unknown", ytdlp_update: update }: RunnerHealth) {
  if (!update || update.state === "installed") return version
  const asked = update.version ?? "another one"
  return `${version}; ${asked} is ${update.state === "failed" ? "not installed" : "being installed"}`
}

function StoresCard({ state }: { state: ServiceState }) {
  const { storage, databaseBytes, disk } = state
  const files = `${formatBytes(storage.bytes)} of ${formatCount(storage.accounts)} ${storage.accounts === 1 ? "account" : "accounts"}`
  return (
    <Card title="Storage">
      <Facts
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
