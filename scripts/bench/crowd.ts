import { globSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import pWaitFor from "p-wait-for"
import { jsonBody } from "./caller.ts"
import type { Caller } from "./caller.ts"
import { formatDifference, formatMib, formatMs, formatRatio } from "./figure.ts"
import type { Figure } from "./figure.ts"
import { makeMedia } from "./media.ts"
import { findWorkerd, residentBytes, watchMemory } from "./memory.ts"
import { submitCommand, uploadMedia } from "./requests.ts"
import type { BenchScope } from "./scope.ts"
import { startBenchService } from "./service.ts"
import { median, repeat, rotateMedians, timeMs } from "./statistics.ts"

const QUEUED_JOBS = 50_000
const LARGE_COMMANDS = 6
const LARGE_BYTES = 900_000
const LARGE_LINES = 15
const INPUTS = 64
const GET_EVERY_MS = 50
/** A sweep falls into it, and two alarms of each dispatcher. */
const WATCHED_MS = 75_000
const IDLE_MS = 10_000
const ADOPTED_MS_MAX = 400_000
const REST_MS = 5_000
const ROUNDS = { warmUp: 20, counted: 60 }
const BUSY_MS_MAX = 10_000
const MIB = 1024 ** 2
const GOAL = { longestMs: 300, largeBytes: 150 * MIB, queuedBytes: 20 * MIB, submitRatio: 1.2 }

/** One account has a slot and no more, which its first task holds. */
const SETTINGS = { PAID_RUNNING_JOBS_MAX: "1", PAID_WAITING_JOBS_MAX: "100000" }

/** What an account with large commands, or with very many that wait, costs another one. */
export async function benchCrowd(scope: BenchScope): Promise<Figure[]> {
  return [...(await benchLarge(scope)), ...(await benchQueued(scope))]
}

async function benchLarge(scope: BenchScope): Promise<Figure[]> {
  const service = await startBenchService(scope, { runnerCapacity: 2, settings: SETTINGS })
  const other = await service.openAccount("other")
  const path = await makeMedia(await scope.makeFolder(), "tone.wav", "-f lavfi -i sine -t 0.1")
  const fileIds = await uploadMany(service.caller, path)
  await submitCommand(service.caller, holdOrder())
  await sleep(REST_MS)
  const idle = await getFor(other, IDLE_MS)
  const workerd = findWorkerd(service.pid)
  const beforeBytes = residentBytes(workerd) ?? 0
  const memory = watchMemory(workerd)
  const [besideMs] = await Promise.all([
    getFor(other, WATCHED_MS),
    repeat(LARGE_COMMANDS, async () => await submitLarge(service.caller, fileIds)),
  ])
  const grownBytes = memory.stop().peakBytes - beforeBytes
  await service.stop()
  const name = `${LARGE_COMMANDS} queued commands of ${LARGE_BYTES / 1e6} MB with ${INPUTS} inputs`
  return [
    {
      name: `crowd: another's GET beside ${name}, longest`,
      measured: formatMs(Math.max(...besideMs)),
      reference: `${formatMs(Math.max(...idle))} idle`,
      comparison: formatRatio(Math.max(...besideMs) / Math.max(...idle)),
      goal: `<= ${GOAL.longestMs} ms`,
      isMet: Math.max(...besideMs) <= GOAL.longestMs,
    },
    {
      name: "crowd: workerd's growth meanwhile",
      measured: formatMib(grownBytes),
      reference: `${formatMib(beforeBytes)} before`,
      comparison: formatRatio((beforeBytes + grownBytes) / beforeBytes),
      goal: `<= ${formatMib(GOAL.largeBytes)}`,
      isMet: grownBytes <= GOAL.largeBytes,
    },
  ]
}

async function benchQueued(scope: BenchScope): Promise<Figure[]> {
  const stateDir = await scope.makeFolder()
  const options = { runnerCapacity: 2, settings: SETTINGS }
  const first = await startBenchService(scope, { ...options, stateDir })
  const held = await submitCommand(first.caller, holdOrder())
  await first.whenLogged("process.started", held)
  const waiting = await submitCommand(first.caller, holdOrder())
  await sleep(REST_MS)
  await first.stop()
  copyJob(stateDir, waiting)

  const crowded = await startBenchService(scope, { ...options, stateDir })
  const idle = await startBenchService(scope, options)
  const others = {
    beside: await crowded.openAccount("other"),
    alone: await idle.openAccount("other"),
  }
  // Code that comes into memory with the first jobs is in both.
  await compareSubmits(others)
  const watches = [crowded, idle].map(({ pid }) => watchMemory(findWorkerd(pid)))
  const adoptedMs = await timeMs(async () => await untilQueued(stateDir))
  console.error(`${QUEUED_JOBS} jobs were queued anew in ${(adoptedMs / 1000).toFixed(0)} s`)
  await sleep(WATCHED_MS)
  const [peak = 0, peakIdle = 0] = watches.map((watch) => watch.stop().peakBytes)
  const { beside, alone } = await compareSubmits(others)
  await Promise.all([crowded.stop(), idle.stop()])
  const name = `${QUEUED_JOBS} queued jobs of one account`
  return [
    {
      name: `crowd: workerd's peak with ${name}, as they are queued anew and swept`,
      measured: formatMib(peak),
      reference: `${formatMib(peakIdle)} without`,
      comparison: formatDifference(peak - peakIdle, formatMib),
      goal: `<= ${formatMib(GOAL.queuedBytes)} more`,
      isMet: peak - peakIdle <= GOAL.queuedBytes,
    },
    {
      name: `crowd: another's POST /commands beside ${name}, p50`,
      measured: formatMs(beside),
      reference: `${formatMs(alone)} idle`,
      comparison: formatRatio(beside / alone),
      goal: `<= ${GOAL.submitRatio} x`,
      isMet: beside <= GOAL.submitRatio * alone,
    },
  ]
}

async function compareSubmits({ beside, alone }: { beside: Caller; alone: Caller }) {
  async function submit(caller: Caller): Promise<number> {
    return await timeMs(async () => await submitCommand(caller, order("color=s=16x16:d=0.04")))
  }
  const found = await rotateMedians(ROUNDS, {
    beside: async () => await submit(beside),
    alone: async () => await submit(alone),
  })
  return { beside: found("beside"), alone: found("alone") }
}

/** How long each of some GETs takes, one at a time. */
async function getFor(caller: Caller, ms: number): Promise<number[]> {
  const took: number[] = []
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt) {
    took.push(await timeMs(async () => await caller.ask("GET", "/v1/files?limit=1")))
    await sleep(GET_EVERY_MS)
  }
  console.error(`${took.length} GETs, p50 ${formatMs(median(took))}`)
  return took
}

async function uploadMany(caller: Caller, path: string): Promise<string[]> {
  const ids: string[] = []
  for (let file = 0; file < INPUTS; file += 1) ids.push(await uploadMedia(caller, path))
  return ids
}

async function submitLarge(caller: Caller, fileIds: string[]): Promise<void> {
  const keys = fileIds.map((_, at) => `in_${at + 1}`)
  const inputs = keys.map((key) => `-i {{${key}}}`).join(" ")
  const comment = "y".repeat(LARGE_BYTES / LARGE_LINES)
  const line = `ffmpeg ${inputs} -map 0 -metadata comment=${comment} {{out_1}}`
  const body = jsonBody({
    ffmpeg_commands: Array.from({ length: LARGE_LINES }, () => line),
    input_files: Object.fromEntries(keys.map((key, at) => [key, `svc_id://${fileIds[at]}`])),
    output_files: { out_1: "out.wav" },
  })
  await caller.ask("POST", "/v1/commands", body)
}

/** Holds a slot without load for longer than the benchmark lasts. */
function holdOrder() {
  return order("color=s=16x16:r=1:d=900", "-re ")
}

function order(source: string, how = "") {
  return {
    ffmpeg_command: `ffmpeg ${how}-f lavfi -i ${source} -c:v mpeg4 {{out_1}}`,
    input_files: {},
    output_files: { out_1: "out.mp4" },
  }
}

/** Has a service that does not run have a job that waits this many times more. */
function copyJob(stateDir: string, jobId: string): void {
  const database = openOne(join(stateDir, "v3", "d1"))
  try {
    database.exec("begin")
    for (const [table, own] of [
      ["jobs", "id"],
      ["tasks", "job_id"],
    ] as const) {
      const columns = database.prepare(`select name from pragma_table_info('${table}')`).all()
      const names = columns.map(({ name }) => String(name))
      const values = names.map((name) => {
        if (name === "id" || name === own) return idOf(name)
        return name === "created_at" ? "(created_at - 3600000)" : name
      })
      database.exec(
        `insert into ${table} (${names.map(quote).join()}) with recursive n(i) as (
           select 1 union all select i + 1 from n where i < ${QUEUED_JOBS})
         select ${values.map((value) => (value.includes("(") ? value : quote(value))).join()}
         from n, (select * from ${table} where ${own} = '${jobId}')`,
      )
    }
    database.exec("commit")
  } finally {
    database.close()
  }

  function idOf(column: string): string {
    return `substr(${column}, 1, 24) || printf('%012x', i)`
  }
}

function quote(name: string): string {
  return `"${name}"`
}

async function untilQueued(stateDir: string): Promise<void> {
  await pWaitFor(() => countQueued(stateDir) >= QUEUED_JOBS, {
    interval: 1000,
    timeout: { milliseconds: ADOPTED_MS_MAX, message: "the jobs were not queued again" },
  })
}

/** Tasks that dispatchers have queued. */
function countQueued(stateDir: string): number {
  const counts = listDatabases(join(stateDir, "v3", "do")).map((path) => {
    const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS_MAX })
    try {
      const found = database
        .prepare("select 1 from sqlite_master where name = 'queued_tasks'")
        .get()
      if (!found) return 0
      return Number(database.prepare("select count(*) as count from queued_tasks").get()?.["count"])
    } finally {
      database.close()
    }
  })
  return counts.reduce((sum, count) => sum + count, 0)
}

function openOne(folder: string): DatabaseSync {
  const [path] = listDatabases(folder)
  if (path === undefined) throw new Error(`${folder} has no database`)
  return new DatabaseSync(path, { timeout: BUSY_MS_MAX })
}

function listDatabases(folder: string): string[] {
  const paths = globSync(join(folder, "**", "*.sqlite"))
  return paths.filter((path) => !path.endsWith("metadata.sqlite"))
}
