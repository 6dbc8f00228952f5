import { dirname, join } from "node:path"
import { findImports } from "./imports.ts"

/**
 * Module of the project: a folder with its subfolders. The files directly in `src`, `container`,
 * `scripts` or `test` form a module too.
 */
type Module = {
  holds: string
  /** Other modules that the module may import; `*` stands for all modules. */
  imports: readonly string[]
}

const GROUND = ["src/contract", "src/domain", "src/platform"]
const STORES = ["src/db", "src/db/schema", "src/objects", "src/bindings", ...GROUND]
const RUNNER = ["container", "src/contract", "src/ffmpeg"]

/**
 * Modules by path, with the modules that each may import. `docs/develop/architecture.md` shows them
 * as a table.
 */
export const MODULE_RULES: Record<string, Module> = {
  src: { holds: "entry files, which bind the runtime and mount", imports: ["*"] },
  "src/platform": {
    holds: "ids, log, cryptography, bounded texts and caches",
    imports: ["src/contract"],
  },
  "src/contract": { holds: "schemas of what crosses the wire to a runner", imports: [] },
  "src/ffmpeg": {
    holds: "command lines, filter graphs and their policy: one reader for Worker and runner",
    imports: ["src/contract"],
  },
  "src/domain": {
    holds: "states, snapshots and drafts of jobs, plans, scopes, faults, object keys",
    imports: ["src/contract", "src/db/schema", "src/platform"],
  },
  "src/bindings": {
    holds: "environment, settings, pools, stubs of Durable Objects, metrics",
    imports: GROUND,
  },
  "src/hints": { holds: "corrections of mistakes in a request", imports: GROUND },
  "src/kinds": {
    holds: "a folder a kind of job: request, plan, finish, record; no I/O",
    imports: ["src/db/schema", "src/ffmpeg", "src/hints", ...GROUND],
  },
  "src/db": {
    holds: "the SQL of D1; every function takes a database",
    imports: ["src/db/schema", "src/bindings", ...GROUND],
  },
  "src/db/schema": { holds: "tables and their rows", imports: ["src/db", ...GROUND] },
  "src/objects": { holds: "objects of R2: parts, copies, links, ZIP", imports: STORES },
  "src/accounts": {
    holds: "sign-in, keys, plans, the rate limiter, mail, deletion",
    imports: ["src/webhooks", ...STORES],
  },
  "src/runner": { holds: "the way to runners, and the routes that they call", imports: STORES },
  "src/scheduler": {
    holds: "Dispatcher and Pool: queue, slots, leases, fair share, reconciler",
    imports: ["src/jobs", "src/kinds", "src/runner", "src/upkeep", ...STORES],
  },
  "src/jobs": {
    holds: "create, settle, cancel, retry, wait, remove",
    imports: ["src/kinds", "src/runner", "src/scheduler", "src/webhooks", ...STORES],
  },
  "src/webhooks": { holds: "outbox, signature, tries", imports: ["src/kinds", ...STORES] },
  "src/upkeep": {
    holds: "the sweep, health, dead letters",
    imports: [
      "src/accounts",
      "src/jobs",
      "src/kinds",
      "src/runner",
      "src/scheduler",
      "src/webhooks",
      ...STORES,
    ],
  },
  "src/api": {
    holds: "middleware, input, output and routes of the interface",
    imports: [
      "src/accounts",
      "src/hints",
      "src/jobs",
      "src/kinds",
      "src/upkeep",
      "src/webhooks",
      ...STORES,
    ],
  },
  "src/dashboard": {
    holds: "pages for people",
    imports: ["src/accounts", "src/api", "src/hints", "src/kinds", "src/upkeep", ...STORES],
  },
  container: { holds: "the runner: its entry, settings and log", imports: ["*"] },
  "container/captions": { holds: "captions and texts of speech; no I/O", imports: [] },
  "container/egress": {
    holds: "the only way out to the web",
    imports: ["container", "src/contract"],
  },
  "container/ffmpeg": { holds: "the build of ffmpeg from Debian's source", imports: [] },
  "container/models": { holds: "models of speech, by hash", imports: ["src/contract"] },
  "container/sandbox": { holds: "confines and starts a tool", imports: RUNNER },
  "container/tools": {
    holds: "ffmpeg, ffprobe, yt-dlp and whisper: arguments, runs, messages",
    imports: ["container/captions", "container/egress", "container/sandbox", ...RUNNER],
  },
  "container/transfer": {
    holds: "inputs, outputs and reports over the wire",
    imports: ["container/egress", "container/sandbox", ...RUNNER],
  },
  "container/tasks": {
    holds: "a folder a kind of task",
    imports: [
      "container/captions",
      "container/egress",
      "container/sandbox",
      "container/tools",
      "container/transfer",
      ...RUNNER,
    ],
  },
  "container/server": {
    holds: "runs of tasks, their disk, health",
    imports: [
      "container/sandbox",
      "container/tasks",
      "container/tools",
      "container/transfer",
      ...RUNNER,
    ],
  },
  scripts: { holds: "a folder a command", imports: ["*"] },
  test: { holds: "tests, which mirror the rest", imports: ["*"] },
}

/** npm packages that only some modules may import, with these modules. */
const PACKAGES: Record<string, readonly string[]> = {
  "@cloudflare/containers": ["src", "src/runner"],
  "better-auth": ["src/accounts", "src/bindings", "test"],
  "cloudflare:workers": ["src/accounts", "src/scheduler", "scripts", "test"],
  "drizzle-orm": ["src/db", "src/db/schema", "scripts", "test"],
  hono: ["src", "src/api", "src/dashboard", "src/runner", "scripts", "test"],
  wrangler: ["scripts", "test"],
}

/**
 * npm packages that a module may import, for modules that the runner or the build of its image also
 * uses.
 */
const OWN_PACKAGES: Record<string, readonly string[]> = {
  "container/models": [],
  "src/contract": ["ipaddr.js", "zod"],
  "src/ffmpeg": [],
}

/**
 * Finds imports of the project at `root` that `MODULE_RULES` does not allow. Returns a sentence for
 * each.
 */
export function findForbiddenImports(root: string): string[] {
  return findImports(root).flatMap(({ path, name }) => {
    const problem = name.startsWith(".")
      ? judgeModule(path, join(dirname(path), name))
      : judgePackage(path, name)
    return problem === null ? [] : [problem]
  })
}

function judgeModule(path: string, target: string): string | null {
  const [from, to] = [moduleOf(path), moduleOf(target)]
  if (from === to) return null
  const imports: readonly string[] = MODULE_RULES[from]?.imports ?? []
  if (imports.includes(to) || imports.includes("*")) return null
  return `${path} imports ${target}: ${from} may import ${imports.join(", ") || "no other module"}.`
}

function judgePackage(path: string, name: string): string | null {
  const module = moduleOf(path)
  const own = OWN_PACKAGES[module]
  if (own && !name.startsWith("node:") && !own.includes(name)) {
    return `${path} imports ${name}: ${module} may import ${own.join(", ") || "no package"}.`
  }
  const known = Object.keys(PACKAGES).find((each) => name === each || name.startsWith(`${each}/`))
  const modules = PACKAGES[known ?? ""]
  if (!modules || modules.includes(module)) return null
  return `${path} imports ${name}, which is for ${modules.join(", ")}.`
}

/** Returns the module of a file: the longest path in `MODULE_RULES` that contains the file. */
function moduleOf(path: string): string {
  const parts = path.split("/")
  const paths = parts.map((_, index) => parts.slice(0, parts.length - index).join("/"))
  return paths.find((each) => MODULE_RULES[each] !== undefined) ?? parts[0] ?? ""
}

const TABLE =
  /(?<=<!-- modules, from scripts\/check\/modules.ts -->\n).*?(?=\n<!-- end of modules -->)/s

/**
 * Returns a document with the current table of modules between its two marks. Throws if the
 * document has no marks.
 */
export function replaceModulesTable(text: string): string {
  if (!TABLE.test(text)) throw new Error("The document has no marks of the table of modules.")
  return text.replace(TABLE, () => formatModules())
}

/** Reports whether a document has the current table of modules, in any alignment of its columns. */
export function hasCurrentModulesTable(text: string): boolean {
  return unaligned(replaceModulesTable(text)) === unaligned(text)
}

function unaligned(text: string): string {
  return text.replaceAll(/ +/g, " ").replaceAll(/-+/g, "-")
}

function formatModules(): string {
  const rows = Object.entries(MODULE_RULES).map(([path, { holds, imports }]) => {
    const names = imports.includes("*") ? "all" : imports.map((each) => `\`${each}\``).join(", ")
    return `| \`${path}\` | ${holds} | ${names || "none"} |`
  })
  return ["", "| module | holds | imports |", "| --- | --- | --- |", ...rows, ""].join("\n")
}
