import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { CloudflareStandIn } from "./cloudflare.ts"

const HERE = import.meta.dirname
const CLONE = resolve(HERE, "../../..")
const WRANGLER = join(CLONE, "node_modules/wrangler/bin/wrangler.js")

const PRELOADED = [
  import.meta.resolve("./record-words.ts"),
  import.meta.resolve("./registry-on-loopback.ts"),
]

/** Nothing that wrangler does for itself leaves the machine, and it asks nobody. */
const SILENT = { CI: "1", WRANGLER_HIDE_BANNER: "true", WRANGLER_SEND_METRICS: "false" }

export type Run = { exitCode: number; output: string }

/** A machine of an operator: folders of its own, and nothing of this one's environment. */
export type Machine = {
  folder: string
  stateDir: string
  run(script: string, words?: string[], environment?: Record<string, string>): Promise<Run>
  /** Deploys without the check, for which the stand-in has no service. */
  deploy(words?: string[], environment?: Record<string, string>): Promise<Run>
  /** Runs wrangler's own binary in the clone, as `npx wrangler` does. */
  wrangler(words: string[], environment?: Record<string, string>): Promise<Run>
  /** The same, as a group of processes that can be ended at once. */
  startWrangler(words: string[]): { end(): void; run: Promise<Run> }
  /** The command lines of all Node processes so far. */
  words(): string
  remove(): void
}

/** A machine that is logged in to the stand-in's first account. */
export function makeMachine(cloudflare: CloudflareStandIn): Machine {
  const folder = mkdtempSync(join(tmpdir(), "lathe-operator-"))
  const stateDir = join(folder, "state")
  const wordsPath = join(folder, "words")
  const [account] = cloudflare.accounts
  const base = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    STATE_DIR: stateDir,
    WORDS_PATH: wordsPath,
    NODE_OPTIONS: PRELOADED.map((url) => `--import=${url}`).join(" "),
    CLOUDFLARE_API_BASE_URL: cloudflare.apiBase,
    CLOUDFLARE_API_TOKEN: cloudflare.token,
    CLOUDFLARE_ACCOUNT_ID: account?.id ?? "",
    WRANGLER_DOCKER_BIN: join(HERE, "docker-stand-in.sh"),
    PUBLIC_ORIGIN: cloudflare.origin,
  }
  const { PUBLIC_ORIGIN: _, ...ofWrangler } = { ...base, ...SILENT }
  async function run(
    script: string,
    words: string[] = [],
    environment: Record<string, string> = {},
  ): Promise<Run> {
    const line = [join(CLONE, "scripts", script, "main.ts"), ...words]
    return await start(line, { ...base, ...environment }).run
  }
  return {
    folder,
    stateDir,
    run,
    deploy: async (words = [], environment = {}) =>
      await run("deploy", ["--no-check", ...words], environment),
    wrangler: async (words, environment = {}) =>
      await start([WRANGLER, ...words], { ...ofWrangler, ...environment }).run,
    startWrangler: (words) => start([WRANGLER, ...words], ofWrangler),
    words: () => readFileSync(wordsPath, "utf8"),
    remove: () => rmSync(folder, { recursive: true }),
  }
}

/** Every file below a folder, by its path, as text. */
export function readAll(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
  return new Map(paths.map((path) => [path, readFileSync(path, "utf8")]))
}

function start(line: string[], env: Record<string, string>): { end(): void; run: Promise<Run> } {
  const options = { cwd: CLONE, env, detached: true, stdio: ["ignore", "pipe", "pipe"] as const }
  const child = spawn(process.execPath, line, { ...options, stdio: [...options.stdio] })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text
    })
  }
  return {
    end: () => process.kill(-(child.pid ?? Number.NaN), "SIGKILL"),
    run: once(child, "close").then(() => ({ exitCode: child.exitCode ?? 1, output })),
  }
}
