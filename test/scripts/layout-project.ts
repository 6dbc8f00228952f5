import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { openProject } from "../../scripts/bench/layout/project.ts"
import { readSources } from "../../scripts/bench/layout/source.ts"
import { measureTrips } from "../../scripts/bench/layout/trips.ts"
import type { TripResult } from "../../scripts/bench/layout/trips.ts"

const folders: string[] = []

/** Removes the projects that a test made. */
export function removeProjects(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
}

const QUEUES = `[[queues.producers]]
binding = "JOBS"
queue = "fixture-jobs"

[[queues.producers]]
binding = "MAIL"
queue = "fixture-mail"
`

const APP = `import { Hono } from "hono"
import { allow } from "./http/allow.ts"
import { things } from "./things/routes.ts"
export const app = new Hono()
app.use("/v1/*", allow)
app.route("/v1/things", things)
app.post("/io/:task/reports", (c) => c.text("heard"))
`

const ALLOW = `import { createMiddleware } from "hono/factory"
export const allow = createMiddleware(async (c, next) => await next())
`

/** A project of an app, a middleware and one route, `POST /v1/things`. */
export function thingsWith(
  handler: string,
  others: Record<string, string> = {},
): Record<string, string> {
  const start = `import { Hono } from "hono"\nexport const things = new Hono()\n`
  const imports = handler.match(/^import .*\n/gm)?.join("") ?? ""
  const body = handler.replace(/^import .*\n/gm, "")
  const routes = `${imports}${start}things.post("/", async (c) => {\n${body}\n})\n`
  return {
    "src/app.ts": APP,
    "src/http/allow.ts": ALLOW,
    "src/things/routes.ts": routes,
    ...others,
  }
}

/** A file with one function that does nothing. */
export function work(name: string): string {
  return `export function ${name}() {}\n`
}

/** Writes the files of a project into a new folder. */
export function makeProject(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "lathe-layout-"))
  folders.push(root)
  for (const [path, text] of Object.entries({ "wrangler.toml": QUEUES, ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

/** The way of `POST /v1/things`, which is about the kind `red`. */
export function wayOf(files: Record<string, string>, endsAtAnswer = false): TripResult {
  const root = makeProject(files)
  const project = openProject(root, readSources(root, ["src", "container"]))
  const request = { name: "", method: "POST", endsAtAnswer, reaches: ["put"] }
  const goals = { files: 0, crossings: 0 }
  const trip = { ...request, path: "/v1/things", kinds: ["red"], goals }
  const other = { ...request, path: "/v1/others", kinds: ["blue"], goals }
  const [way] = measureTrips(project, [trip, other], {
    doors: [
      { from: "src", to: "container", base: "" },
      { from: "container", to: "src", base: "/io/task" },
    ],
    sealed: ["src/rules"],
    assumed: { unchosen: ["failed"], absent: ["waitMs"], present: [], failureTypes: ["Failure"] },
  })
  if (!way) throw new Error("no trip was measured")
  return way
}
