import { Hono } from "hono"
import { createMiddleware } from "hono/factory"
import { findSignedInUser } from "../../accounts/sign-in/signed-in-user.ts"
import { getSettings } from "../../bindings/env.ts"
import { authenticateOperator } from "../middleware/auth.ts"
import { addMethodNotAllowedRoutes } from "./methods.ts"
import { notFoundProblem } from "../output/problem.ts"
import { getPublicOrigin } from "../input/request.ts"
import type { AppEnv } from "../context.ts"
import { metricsRegistry } from "../../bindings/metrics.ts"
import { readServiceState } from "../../upkeep/service-state.ts"
import { Gauge, Registry } from "prom-client"
import type { ServiceState } from "../../upkeep/service-state.ts"

const startedAt = Date.now()

/** Returns Prometheus gauges of the current state of the service. */
function makeGauges(state: ServiceState, now: number): Registry {
  const registry = new Registry()
  function gauge(name: string, help: string, labelNames: string[] = []): Gauge {
    return new Gauge({ name, help, labelNames, registers: [registry] })
  }
  setJobGauges(gauge, state, now)
  setPoolGauges(gauge, state)
  setStorageGauges(gauge, state)
  const { deliveries, deadLetters } = state
  gauge("lathe_webhooks_waiting", "Webhooks that wait for their next try.").set(deliveries.waiting)
  gauge("lathe_webhooks_due", "Webhooks whose next try is due.").set(deliveries.due)
  gauge("lathe_webhooks_failed_day", "Webhooks that failed in the last day.").set(deliveries.failed)
  gauge("lathe_dead_letters", "Queue messages in the dead letters.").set(deadLetters)
  gauge("lathe_uptime_seconds", "Seconds since the start of the Worker's process.").set(
    (now - startedAt) / 1000,
  )
  const degraded = gauge("lathe_degraded", "1 for each reason why jobs may wait.", ["reason"])
  for (const reason of state.reasons) degraded.set({ reason }, 1)
  return registry
}

type MakeGauge = (name: string, help: string, labelNames?: string[]) => Gauge

function setJobGauges(gauge: MakeGauge, { jobs, tasks }: ServiceState, now: number): void {
  const open = gauge("lathe_jobs_open", "Open jobs.", ["kind", "state"])
  for (const { name: kind, state, count } of jobs) open.set({ kind, state }, count)
  const queued = gauge("lathe_tasks_open", "Open tasks.", ["pool", "state"])
  const oldest = gauge(
    "lathe_task_oldest_wait_seconds",
    "Seconds for which the oldest task has waited.",
    ["pool"],
  )
  for (const { name: pool, state, count, oldestAt } of tasks) {
    queued.set({ pool, state }, count)
    if (state === "waiting") oldest.set({ pool }, Math.max(0, now - oldestAt) / 1000)
  }
}

function setPoolGauges(gauge: MakeGauge, { pools, runner }: ServiceState): void {
  const slots = gauge("lathe_pool_slots", "Tasks that a pool runs at once.", ["pool"])
  const used = gauge("lathe_pool_slots_used", "Slots that are allocated to accounts.", ["pool"])
  const waiting = gauge("lathe_pool_accounts_waiting", "Accounts that wait for a slot.", ["pool"])
  for (const { name: pool, ...usage } of pools) {
    if (usage.slots === null) continue
    slots.set({ pool }, usage.slots)
    used.set({ pool }, usage.used)
    waiting.set({ pool }, usage.waitingAccounts)
  }
  const isUp = runner !== null && runner !== "unreachable"
  gauge("lathe_runner_up", "1 if the runner answers.").set(isUp ? 1 : 0)
}

function setStorageGauges(gauge: MakeGauge, { storage, databaseBytes, disk }: ServiceState): void {
  gauge("lathe_storage_bytes", "Bytes of stored files of all accounts.").set(storage.bytes)
  if (databaseBytes !== null) {
    gauge("lathe_database_bytes", "Bytes of the largest database.").set(databaseBytes)
  }
  if (disk === null) return
  gauge("lathe_disk_free_bytes", "Free bytes of the disk of the state.").set(disk.freeBytes)
  gauge("lathe_disk_bytes", "Bytes of the disk of the state.").set(disk.totalBytes)
}

/**
 * Middleware that requires the operator's bearer token, or the session of a user with operator
 * rights.
 */
const requireOperator = createMiddleware<AppEnv>(async (c, next) => {
  const signedIn = await findSignedInUser(c.env, getPublicOrigin(c), c.req.raw.headers)
  if (signedIn?.user.isOperator && !signedIn.account.isSuspended) return await next()
  return await authenticateOperator(c, next)
})

/**
 * Middleware that hides the metrics on Cloudflare, where each isolate counts separately. Analytics
 * Engine has the sums.
 */
const requireOneMachine = createMiddleware<AppEnv>(async (c, next) => {
  if (getSettings(c.env).RUNNER_ORIGIN === undefined) throw notFoundProblem("page")
  await next()
})

/**
 * Route that serves counters of this machine and gauges of the service in the format of Prometheus.
 */
export const metricsRoutes = new Hono<AppEnv>()

metricsRoutes.get("/", requireOneMachine, requireOperator, async (c) => {
  const gauges = makeGauges(await readServiceState(c.env), Date.now())
  const text = `${await metricsRegistry.metrics()}\n${await gauges.metrics()}`
  return c.body(text, 200, { "content-type": metricsRegistry.contentType })
})

addMethodNotAllowedRoutes(metricsRoutes)
