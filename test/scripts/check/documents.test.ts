import { execFile, execFileSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, test } from "vitest"
import packageJson from "../../../package.json" with { type: "json" }
import { findBrokenLinks } from "../../../scripts/check/document-links.ts"
import { RUNNER_VARIABLES } from "../../../scripts/start/runner-process.ts"
import { startScriptSettingNames } from "../../../scripts/cli/service-config.ts"
import { isSystemError } from "../../../scripts/cli/system-error.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { PLAN_LIMITS } from "../../../src/domain/plans.ts"
import type { PlanLimits } from "../../../src/domain/plans.ts"
import { secretNames, settingsSchema, settingNames } from "../../../src/bindings/settings.ts"

const README_LINES_MAX = 160

const pages = ["README.md", "CONTRIBUTING.md", ...globSync("docs/{guide,operate}/*.md")]
const oneMachine = textOf("docs/operate/one-machine.md")
/** Settings whose default on one machine is not that of the Worker alone. */
const OTHER_ON_ONE_MACHINE = new Set(["RUNNER_CAPACITY", "FFMPEG_FACTS"])
/**
 * Numbers of plans, settings of a runner that is started by hand, and variables of other programs.
 */
const WITHOUT_ROW =
  /^(?:(?:TRIAL|PAID)_\w+|(?:RUNNER|IO)_ORIGIN|(?:RUNNER|ANNOUNCE)_TOKEN|PATH|PIP_\w+|SSL_CERT_FILE|(?:https|no)_proxy|HTTPS_PROXY|NO_PROXY)$/

describe("links", () => {
  test("every link, anchor and mention of a page resolves", () => {
    expect(findBrokenLinks(".")).toEqual([])
  })

  test("a missing page, heading or mentioned page is named", async () => {
    await using folder = await makeTempFolder("links")
    const { path: root } = folder
    execFileSync("git", ["init", "--quiet", root])
    mkdirSync(join(root, "docs"))
    const lines = [
      "# First page",
      "[same](#first-page), [a page](docs/page.md#two-words), [the web](https://localhost/none)",
      "`[code](none.md)`",
      "```\n[fenced](none.md)\n```",
      "[gone](docs/none.md) [no heading](docs/page.md#three-words) [nor here](#second)",
    ]
    writeFileSync(join(root, "README.md"), lines.join("\n"))
    const page = "# Page\n\n## Two `words`\n\n[up](../README.md) `src/gone.ts`\n\n# Page\n"
    writeFileSync(join(root, "docs/page.md"), page)
    writeFileSync(join(root, "code.ts"), "// docs/page.md and docs/gone.md have more.\n")
    expect(findBrokenLinks(root).toSorted()).toEqual(
      [
        "README.md refers to README.md#second: the page has no such heading.",
        "README.md refers to docs/none.md: the file does not exist.",
        "README.md refers to docs/page.md#three-words: the page has no such heading.",
        "code.ts refers to docs/gone.md: the file does not exist.",
        'docs/page.md repeats the heading "# Page".',
        "docs/page.md refers to src/gone.ts: the file does not exist.",
      ].toSorted(),
    )
  })
})

test(`the README has at most ${README_LINES_MAX} lines`, () => {
  expect(textOf("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(README_LINES_MAX)
})

describe.each(pages)("%s", (page) => {
  const text = textOf(page)

  test("each named script of package.json exists", () => {
    const named = [...text.matchAll(/(?:npm run|scripts\/run)(?: -s)? ([a-z]+(?::[a-z]+)?)/g)]
    const names = named.map(([, name]) => name)
    expect(Object.keys(packageJson.scripts)).toEqual(expect.arrayContaining(names))
  })

  test("each named file of the project exists", () => {
    const named = text.matchAll(/`((?:src|container|scripts|test|requirements)\/[\w./-]+\.\w+)`/g)
    expect([...named].map(([, path = ""]) => path).filter((path) => !existsSync(path))).toEqual([])
  })
})

describe("docs/operate/settings.md", () => {
  const rows = rowsOf(textOf("docs/operate/settings.md"))
  const documented = new Map(
    rows.flatMap(([names = "", value = ""]) => {
      const values = value.split(", ")
      const all = [...names.matchAll(/`([A-Z][A-Z0-9_]+)`/g)]
      return all.map(([, name = ""], index) => [name, values[index] ?? value] as const)
    }),
  )

  test("every setting of Worker, runner and start has a row", () => {
    const all = [...settingNames, ...secretNames, ...startScriptSettingNames, ...RUNNER_VARIABLES]
    const lacking = all.filter((name) => !documented.has(name) && !WITHOUT_ROW.test(name))
    expect(lacking).toEqual([])
  })

  test("every row names a variable that some part of the project reads", () => {
    const sources = globSync("{src,container,scripts}/**/*.ts").map(textOf).join("\n")
    const unread = [...documented.keys()].filter(
      (name) => !new RegExp(`\\b${name}\\b`).test(sources),
    )
    expect(unread).toEqual([])
  })

  test("defaults are those of src/bindings/settings.ts", () => {
    const declared = Object.entries(settingsSchema.shape).flatMap(([name, schema]) => {
      const { data, success } = schema.safeParse(undefined)
      const hasDefault = success && data !== undefined && !OTHER_ON_ONE_MACHINE.has(name)
      return hasDefault && documented.has(name) ? [[name, formatDefault(data)] as const] : []
    })
    const stated = declared.map(([name]) => [name, documented.get(name)?.split(";")[0]])
    expect(declared.length).toBeGreaterThan(25)
    expect(stated).toEqual(declared)
  })
})

/** Names of limits as answers have them, by their field in src/domain/plans.ts. */
const LIMIT_NAMES: Partial<Record<keyof PlanLimits, string>> = {
  requestsPerMinute: "requests_per_minute",
  runningJobsMax: "running_jobs",
  waitingJobsMax: "waiting_jobs",
  fetchesPerDay: "fetches_per_day",
  storageBytesMax: "storage_bytes",
  fileBytesMax: "file_bytes",
  inputBytesMax: "input_bytes",
  linkSecondsMax: "link_seconds",
}

test.each(Object.entries(LIMIT_NAMES))(
  "the pages have the limits of the plans for %s",
  (field, name) => {
    const plans = [PLAN_LIMITS.trial, PLAN_LIMITS.paid].map((plan) => Object.entries(plan))
    const numbers = plans.map((entries) => entries.find(([key]) => key === field)?.[1])
    expect(rowOf("docs/operate/accounts.md", name).slice(2, 4).map(Number)).toEqual(numbers)
    expect(rowOf("docs/guide/limits.md", name).slice(1, 3).map(toNumber)).toEqual(numbers)
  },
)

test("systemd accepts the unit of the documentation", async (context) => {
  const unit = /```ini\n([\s\S]*?)```/.exec(oneMachine)?.[1] ?? ""
  expect(unit).toContain("[Service]")
  await using folder = await makeTempFolder("unit")
  const path = join(folder.path, "lathe.service")
  writeFileSync(path, unit)
  try {
    const { stdout, stderr } = await promisify(execFile)("systemd-analyze", ["verify", path])
    expect(stdout + stderr).toBe("")
  } catch (error) {
    context.skip(isSystemError(error, "ENOENT"), "systemd is not installed")
    throw error
  }
})

test("the unit starts a shell script of the project", () => {
  const started = /ExecStart=\/bin\/sh (\S+) start/.exec(oneMachine)?.[1] ?? ""
  expect(textOf(started)).toMatch(/^#!\/bin\/sh/)
})

function textOf(path: string): string {
  return readFileSync(path, "utf8")
}

/** The default of a setting as a cell of the page states it. */
function formatDefault(value: unknown): string {
  if (value === "" || (Array.isArray(value) && value.length === 0)) return "none"
  if (typeof value === "number") return value === 1024 ** 3 ? "1 GiB" : String(value)
  return `\`${String(value)}\``
}

/** The cells of the row of a page that names something. */
function rowOf(page: string, name: string): string[] {
  return rowsOf(textOf(page)).find((row) => row.includes(`\`${name}\``)) ?? []
}

/** Cells of all rows of the tables of a Markdown text. */
function rowsOf(text: string): string[][] {
  const rows = text.split("\n").filter((line) => line.startsWith("|"))
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** The number of a cell such as `100 GiB` or `5,000`. */
function toNumber(cell: string): number {
  const [digits = "", unit = ""] = cell.replaceAll(",", "").split(" ")
  const scale = { GiB: 1024 ** 3, TiB: 1024 ** 4 }[unit] ?? 1
  return Number(digits) * scale
}
