import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { CLONE, CONFIG_OF_CLONE } from "../config.ts"

/** The program that each of wrangler's starters runs, and its arguments. */
const WRANGLER = /wrangler-dist[/\\]cli\.js$/
/** A custom build is a shell's child, and that shell wrangler's. */
const GENERATIONS_MAX = 8

/** Options of `wrangler deploy` that leave its Worker, names and variables as wrangler.toml has them. */
const HARMLESS = {
  autoconfig: { type: "boolean" },
  config: { type: "string", short: "c" },
  "containers-rollout": { type: "string" },
  "env-file": { type: "string", multiple: true },
  "keep-vars": { type: "boolean" },
  logpush: { type: "boolean" },
  message: { type: "string" },
  metafile: { type: "string" },
  minify: { type: "boolean" },
  outdir: { type: "string" },
  outfile: { type: "string" },
  "secrets-file": { type: "string" },
  strict: { type: "boolean" },
  tag: { type: "string" },
  "upload-source-maps": { type: "boolean" },
} as const

export type WranglerCommand =
  /** `wrangler deploy` of wrangler.toml as it is. */
  | "deploy"
  /** `wrangler deploy` with options that may deploy something else. */
  | "deploy otherwise"
  /** Another command, a dry run, or one that is not known for sure. */
  | "other"

/** The command of the wrangler whose custom build a process is; `pid` names the process. */
export function findWranglerCommand(pid = process.pid): WranglerCommand {
  let each: number | null = pid
  for (let generation = 0; each !== null && generation < GENERATIONS_MAX; generation++) {
    const ancestor = readProcess(each)
    const at = ancestor?.words.findIndex((word) => WRANGLER.test(word)) ?? -1
    if (ancestor && at !== -1) return readCommand(ancestor.words.slice(at + 1))
    each = ancestor?.parent ?? null
  }
  return "other"
}

/** Sorts the arguments of wrangler. */
export function readCommand([command, ...options]: string[]): WranglerCommand {
  if (command !== "deploy") return "other"
  if (options.some((option) => /^--?(?:(?:no-)?dry-?run|help|version)\b|^-[hv]$/i.test(option))) {
    return "other"
  }
  try {
    const { values } = parseArgs({ args: options, options: HARMLESS, allowNegative: true })
    const isOfClone = resolve(CLONE, values.config ?? CONFIG_OF_CLONE) === CONFIG_OF_CLONE
    return isOfClone ? "deploy" : "deploy otherwise"
  } catch {
    return "deploy otherwise"
  }
}

type Ancestor = { parent: number | null; words: string[] }

/** Null where the process is gone, or where the system does not tell. */
function readProcess(pid: number): Ancestor | null {
  try {
    return existsSync("/proc/self/cmdline") ? readProc(pid) : readPs(pid)
  } catch {
    return null
  }
}

function readProc(pid: number): Ancestor {
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1)
  // The second field is the program's name in brackets, which may hold brackets and spaces itself.
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return { parent: parentOf(parent), words }
}

/** A process by `ps`, for systems without /proc; words with spaces come apart there. */
export function readPs(pid: number): Ancestor {
  const line = execFileSync("ps", ["-ww", "-o", "ppid=,args=", "-p", String(pid)], {
    encoding: "utf8",
  })
  const [parent, ...words] = line.trim().split(/\s+/)
  return { parent: parentOf(parent), words }
}

function parentOf(text: string | undefined): number | null {
  const pid = Number(text)
  return Number.isInteger(pid) && pid > 1 ? pid : null
}
