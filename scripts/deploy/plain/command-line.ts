import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { CLONE_FOLDER, WRANGLER_CONFIG_PATH } from "../config.ts"

/** Path of the program that all launchers of wrangler start. */
const WRANGLER = /wrangler-dist[/\\]cli\.js$/
/**
 * Maximum number of ancestor processes to examine. A custom build is the child of a shell, which is
 * a child of wrangler.
 */
const GENERATIONS_MAX = 8

/**
 * Options of `wrangler deploy` that change neither the Worker nor the names and variables of
 * wrangler.toml.
 */
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
  /** The command is `wrangler deploy` with the unchanged wrangler.toml. */
  | "deploy"
  /** The command is `wrangler deploy` with options that may change the deployment. */
  | "deploy otherwise"
  /** The command is another command, a dry run, or unknown. */
  | "other"

/**
 * Returns the command of the wrangler process that runs this process as a custom build. `pid` is
 * the id of the process.
 */
export function findWranglerCommand(pid = process.pid): WranglerCommand {
  let each: number | null = pid
  for (let generation = 0; each !== null && generation < GENERATIONS_MAX; generation++) {
    const ancestor = readProcess(each)
    const at = ancestor?.words.findIndex((word) => WRANGLER.test(word)) ?? -1
    if (ancestor && at !== -1) return classifyWranglerCommand(ancestor.words.slice(at + 1))
    each = ancestor?.parent ?? null
  }
  return "other"
}

/** Classifies a command line of wrangler by its arguments. */
export function classifyWranglerCommand([command, ...options]: string[]): WranglerCommand {
  if (command !== "deploy") return "other"
  if (options.some((option) => /^--?(?:(?:no-)?dry-?run|help|version)\b|^-[hv]$/i.test(option))) {
    return "other"
  }
  try {
    const { values } = parseArgs({ args: options, options: HARMLESS, allowNegative: true })
    const isOfClone =
      resolve(CLONE_FOLDER, values.config ?? WRANGLER_CONFIG_PATH) === WRANGLER_CONFIG_PATH
    return isOfClone ? "deploy" : "deploy otherwise"
  } catch {
    return "deploy otherwise"
  }
}

type Ancestor = { parent: number | null; words: string[] }

/**
 * Reads the parent and arguments of a process. Returns null if the process has ended or the system
 * hides its arguments.
 */
function readProcess(pid: number): Ancestor | null {
  try {
    return existsSync("/proc/self/cmdline") ? readProc(pid) : readProcessByPs(pid)
  } catch {
    return null
  }
}

function readProc(pid: number): Ancestor {
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1)
  // Splits the text after the last parenthesis. The second field is the program's name in
  // parentheses, which may itself contain parentheses and spaces.
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return { parent: parentOf(parent), words }
}

/**
 * Reads the parent and arguments of a process by `ps`, on systems without /proc. Splits arguments
 * at spaces.
 */
export function readProcessByPs(pid: number): Ancestor {
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
