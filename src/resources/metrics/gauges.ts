import { Gauge, Registry } from "prom-client"
import type { ServiceState } from "../../pipeline/upkeep/service-state.ts"

const startedAt = Date.now()

/** How the service is at the moment of a scrape. */
export function gaugesOf(state: ServiceState, now: number): Registry {
  const registry = new Registry()
  function gauge(name: string, help: string, labelNames: string[] = []): Gauge {
    return new Gauge({ name, help, labelNames, registers: [registry] })
  }
  setWork(gauge, state, now)
  setPools(gauge, state)
  setStores(gauge, state)
  const { deliveries, deadLetters } = state
  gauge("lathe_webhooks_waiting", "Webhooks that wait for a try.").set(deliveries.waiting)
  gauge("lathe_webhooks_due", "Webhooks whose next try is due.").set(deliveries.due)
  gauge("lathe_webhooks_failed_day", "Webhooks given up in the last day.").set(deliveries.failed)
  gauge("lathe_dead_letters", "Messages that nobody could take.").set(deadLetters)
  gauge("lathe_uptime_seconds", "Since the Worker's process began.").set((now - startedAt) / 1000)
  const degraded = gauge("lathe_degraded", "Why jobs may wait, 1 each.", ["reason"])
  for (const reason of state.reasons) degraded.set({ reason }, 1)
  return registry
}

type MakeGauge = (name: string, help: string, labelNames?: string[]) => Gauge

function setWork(gauge: MakeGauge, { jobs, tasks }: ServiceState, now: number): void {
  const open = gauge("lathe_jobs_open", "Jobs that are not over.", ["kind", "state"])
  for (const { name: kind, state, count } of jobs) open.set({ kind, state }, count)
  const queued = gauge("lathe_tasks_open", "Tasks that are not over.", ["pool", "state"])
  const oldest = gauge("lathe_task_oldest_wait_seconds", "Since the oldest one waits.", ["pool"])
  for (const { name: pool, state, count, oldestAt } of tasks) {
    queued.set({ pool, state }, count)
    if (state === "waiting") oldest.set({ pool }, Math.max(0, now - oldestAt) / 1000)
  }
}

function setPools(gauge: MakeGauge, { pools, runner }: ServiceState): void {
  const slots = gauge("lathe_pool_slots", "Tasks that a pool does at once.", ["pool"])
  const used = gauge("lathe_pool_slots_used", "Slots that are given to accounts.", ["pool"])
  const waiting = gauge("lathe_pool_accounts_waiting", "Accounts that want a slot.", ["pool"])
  for (const { name: pool, ...usage } of pools) {
    if (usage.slots === null) continue
    slots.set({ pool }, usage.slots)
    used.set({ pool }, usage.used)
    waiting.set({ pool }, usage.waitingAccounts)
  }
  const isUp = runner !== null && runner !== "unreachable"
  gauge("lathe_runner_up", "Whether the runner answers.").set(isUp ? 1 : 0)
}

function setStores(gauge: MakeGauge, { storage, databaseBytes, disk }: ServiceState): void {
  gauge("lathe_storage_bytes", "Bytes of files that accounts store.").set(storage.bytes)
  if (databaseBytes !== null) {
    gauge("lathe_database_bytes", "Bytes of the largest database.").set(databaseBytes)
  }
  if (disk === null) return
  gauge("lathe_disk_free_bytes", "Bytes that the disk of the state can take.").set(disk.freeBytes)
  gauge("lathe_disk_bytes", "Bytes of the disk of the state.").set(disk.totalBytes)
}
