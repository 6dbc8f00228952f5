import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { listIdleWorkspaces, isWaitingToolProcess } from "../support/runner/workspaces.ts"

type Process = { pid: number; parent: number; words: string[] }

/** The process of a service that takes tasks; null while there is none. */
export function findRunner(servicePid: number): number | null {
  return findChild(servicePid, (words) => words.some((word) => word.endsWith("/runner.js")))
}

/** Where the runner of a service listens, also once it was started again. */
export function runnerOriginOf(servicePid: number): string {
  const environment = readFileSync(`/proc/${findRunner(servicePid)}/environ`, "utf8")
  const port = /(?:^|\0)RUNNER_PORT=(\d+)/.exec(environment)?.[1]
  if (port === undefined) throw new Error("the runner names no port")
  return `http://127.0.0.1:${port}`
}

/** The process of a service that runs the Worker; null while there is none. */
export function findWorkerd(servicePid: number): number | null {
  return findChild(
    servicePid,
    ([tool, verb]) => tool?.endsWith("workerd") === true && verb === "serve",
  )
}

/** The variables that a process was started with. */
export function readEnvironment(pid: number): Record<string, string> {
  const lines = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0")
  return Object.fromEntries(lines.filter((line) => line !== "").map(splitLine))
}

function splitLine(line: string): [string, string] {
  const [name = "", ...value] = line.split("=")
  return [name, value.join("=")]
}

/**
 * Processes below a service that are tools, and any that work in its workspaces; not those that
 * wait for a tool.
 */
export function findTools(servicePid: number, workDir: string): number[] {
  const below = new Set(processesBelow(servicePid))
  const idle = listIdleWorkspaces(workDir)
  return listProcesses()
    .filter(({ pid, words }) => {
      if (isWaitingToolProcess(pid, words) || idle.has(folderOf(pid))) return false
      const isTool = words.some((word) => /(?:^|\/)(?:ff(?:mpeg|probe)|launcher)$/.test(word))
      return (below.has(pid) && isTool) || folderOf(pid).startsWith(`${workDir}/`)
    })
    .map(({ pid }) => pid)
}

/** Processes below a service that have a speech model, or come to have it. */
export function findSpeechWorkers(servicePid: number): number[] {
  const below = new Set(processesBelow(servicePid))
  return listProcesses()
    .filter(({ pid, words: [tool = "", ...words] }) => {
      const isDriver = words.some((word) => word.endsWith("whisper/driver/main.py"))
      return below.has(pid) && isDriver && /(?:^|\/)python[\d.]*$/.test(tool)
    })
    .map(({ pid }) => pid)
}

/** All processes below one, which is not among them. */
export function processesBelow(ancestorPid: number): number[] {
  const below = new Set([ancestorPid])
  for (const { pid, parent } of listProcesses()) if (below.has(parent)) below.add(pid)
  below.delete(ancestorPid)
  return [...below]
}

/** Kills processes; those that have ended already are no error. */
export function killAll(pids: (number | null)[]): void {
  for (const pid of pids) {
    try {
      if (pid !== null) process.kill(pid, "SIGKILL")
    } catch {
      // It ended by itself, a moment ago.
    }
  }
}

function findChild(parentPid: number, fits: (words: string[]) => boolean): number | null {
  const child = listProcesses().find(({ parent, words }) => parent === parentPid && fits(words))
  return child?.pid ?? null
}

/** All processes by id, so that mostly parents come before their children. */
function listProcesses(): Process[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  return pids
    .flatMap((pid) => readProcess(Number(pid)) ?? [])
    .toSorted((one, other) => one.pid - other.pid)
}

function readProcess(pid: number): Process | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? []
    // A zombie has ended; only its entry is left for its parent.
    if (fields[0] === "Z") return null
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    return { pid, parent: Number(fields[1]), words }
  } catch {
    return null
  }
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(join("/proc", String(pid), "cwd"))
  } catch {
    return ""
  }
}
