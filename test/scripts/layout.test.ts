import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import { findCycles } from "../../scripts/bench/layout/cycles.ts"
import { findKindPlaces } from "../../scripts/bench/layout/kind-places.ts"
import { measureLayout } from "../../scripts/bench/layout/layout.ts"
import { readSizes } from "../../scripts/bench/layout/sizes.ts"
import { readSources } from "../../scripts/bench/layout/source.ts"
import { makeProject, removeProjects, thingsWith, wayOf, work } from "./layout-project.ts"

afterEach(removeProjects)

const START = ["src/http/allow.ts", "src/things/routes.ts"]

describe("the way of a request", () => {
  test("begins with what stands before its handler, and counts a file where a function runs", () => {
    const { files, crossings, returns } = wayOf(
      thingsWith(
        `import type { Shape } from "../shapes/shape.ts"
import { LIMIT, save } from "../storage/save.ts"
const shape: Shape = LIMIT
save()
save()`,
        {
          "src/shapes/shape.ts": "export type Shape = number\n",
          "src/storage/save.ts": `import { log } from "./log.ts"\nexport const LIMIT = 1\nexport function save() { log() }\n`,
          "src/storage/log.ts": `export function log() { console.log(JSON.stringify({})) }\n`,
        },
      ),
    )
    expect(files).toEqual([...START, "src/storage/save.ts"])
    expect(crossings.map(({ from, to }) => [from, to])).toEqual([
      ["src/app.ts", "src/http/allow.ts"],
      ["src/app.ts", "src/things/routes.ts"],
      ["src/things/routes.ts", "src/storage/save.ts"],
    ])
    expect(returns).toBe(1)
  })

  test("leaves out what fails, what the request lacks and what comes later", () => {
    const names = ["thrown", "caught", "rejected", "failed", "waited", "timed", "later", "failure"]
    const others = Object.fromEntries(names.map((name) => [`src/${name}/a.ts`, work(name)]))
    const imports = names.map((name) => `import { ${name} } from "../${name}/a.ts"\n`).join("")
    const { files } = wayOf(
      thingsWith(
        `${imports}if (c.bad) { throw thrown() }
try { c.run() } catch { caught() }
c.run().catch(() => rejected())
if (c.state === "failed") failed()
const waitMs = c.wait()
const job = waitMs === null ? null : await waited()
if (job) waited()
setTimeout(() => timed(), 10)
c.waitUntil(later())
failure()`,
        {
          ...others,
          "src/failure/a.ts": `type Failure = {}\nexport function failure(): Failure {}`,
        },
      ),
      true,
    )
    expect(files).toEqual(START)
  })

  test("follows methods of objects and classes, callbacks and parameters", () => {
    const { files } = wayOf(
      thingsWith(
        `import { open } from "../storage/open.ts"
import { each } from "../loops/each.ts"
import { inside } from "../called/inside.ts"
const { store } = open()
store.put()
each((item) => item.use(inside))`,
        {
          "src/storage/open.ts": `import { Store } from "./store.ts"\nexport function open() { return { store: new Store() } }\n`,
          "src/storage/store.ts": `import { openTable } from "./table.ts"\nexport class Store { #table = openTable(); put() { this.#table.write() } }\n`,
          "src/storage/table.ts": `import { row } from "../rows/row.ts"\nexport function openTable() { return { write: () => row() } }\n`,
          "src/rows/row.ts": work("row"),
          "src/loops/each.ts": `import { item } from "./item.ts"\nexport function each(work) { work(item) }\n`,
          "src/loops/item.ts": `export const item = { use(work) { work() } }\n`,
          "src/called/inside.ts": work("inside"),
        },
      ),
    )
    expect(files.slice(2)).toEqual([
      "src/storage/open.ts",
      "src/storage/table.ts",
      "src/storage/store.ts",
      "src/rows/row.ts",
      "src/loops/each.ts",
      "src/loops/item.ts",
      "src/called/inside.ts",
    ])
  })

  test("goes on by Durable Objects, queues, the runner's routes and the Worker's", () => {
    const { files, crossings } = wayOf(
      thingsWith(`await c.env.BOX.getByName("a").open()`, {
        "src/env.ts": `import type { Box } from "./box/box.ts"\nexport type Env = { BOX: DurableObjectNamespace<Box>; JOBS: Queue }\n`,
        "src/box/box.ts": `export class Box { async open() { await this.env.JOBS.send({}) } }\n`,
        "src/index.ts": `import { app } from "./app.ts"\nimport { consume } from "./queues.ts"\nexport default { fetch: app.fetch, queue: consume } satisfies Handler\n`,
        "src/queues.ts": `import { jobs } from "./jobs/jobs.ts"\nimport { mail } from "./mail/mail.ts"\nexport function consume(batch) { if (batch.queue.endsWith("-mail")) return mail()\njobs() }\n`,
        "src/jobs/jobs.ts": `export function jobs() { fetch(ask("POST", "/tasks")) }\n`,
        "src/mail/mail.ts": work("mail"),
        "container/server.ts": `import { Router } from "itty-router"\nimport { report } from "./report.ts"\nimport { check } from "./door/check.ts"\nexport const router = Router({ before: [check] }).get("/tasks/:id", () => 1).post("/tasks", () => report())\n`,
        "container/door/check.ts": work("check"),
        "container/report.ts": `export function report() { call("/reports", { method: "POST" }) }\n`,
      }),
    )
    expect(files.slice(2)).toEqual([
      "src/box/box.ts",
      "src/queues.ts",
      "src/jobs/jobs.ts",
      "container/door/check.ts",
      "container/server.ts",
      "container/report.ts",
      "src/app.ts",
    ])
    expect(crossings.at(-1)).toMatchObject({ from: "container/report.ts", to: "src/app.ts" })
  })

  test("takes its own kind of a registry and of a switch, and only the door of pure rules", () => {
    const { files } = wayOf(
      thingsWith(
        `import { kindOf } from "../kinds/registry.ts"
import { judge } from "../rules/judge.ts"
import { red, blue } from "../colours/colours.ts"
kindOf(c.kind).plan()
judge()
switch (c.kind) { case "blue": return blue(); case "red": return red() }`,
        {
          "src/kinds/registry.ts": `import { red } from "./red.ts"\nimport { blue } from "./blue.ts"\nconst kinds = new Map([red, blue].map((kind) => [kind.name, kind]))\nexport function kindOf(name) { return kinds.get(name) }\n`,
          "src/kinds/red.ts": `export const red = { name: "red", plan() {} }\n`,
          "src/kinds/blue.ts": `export const blue = { name: "blue", plan() {} }\n`,
          "src/rules/judge.ts": `import { word } from "./deep/word.ts"\nexport function judge() { word() }\n`,
          "src/rules/deep/word.ts": work("word"),
          "src/colours/colours.ts": `import { deep } from "../blue/deep.ts"\nexport function red() {}\nexport function blue() { deep() }\n`,
          "src/blue/deep.ts": work("deep"),
        },
      ),
    )
    expect(files.slice(2)).toEqual([
      "src/kinds/registry.ts",
      "src/kinds/red.ts",
      "src/rules/judge.ts",
      "src/colours/colours.ts",
    ])
  })
})

test("a way that does not reach what it should says so", () => {
  expect(wayOf(thingsWith("c.env.MEDIA.get()")).missed).toEqual(["put"])
  expect(wayOf(thingsWith("c.env.MEDIA.put()")).missed).toEqual([])
})

test("files that import each other are a cycle, those that need only types of each other too", () => {
  const root = makeProject({
    "src/a.ts": `import type { B } from "./b.ts"\nexport type A = B\n`,
    "src/b.ts": `export type B = import("./c.ts").C\n`,
    "src/c.ts": `import { a } from "./a.ts"\nexport type C = typeof a\n`,
    "src/d.ts": `import "./a.ts"\n`,
  })
  expect(findCycles(readSources(root, ["src"]))).toEqual([["src/a.ts", "src/b.ts", "src/c.ts"]])
})

test("a kind is named by imports of its own files and by its name outside of them", () => {
  const root = makeProject({
    "src/kinds/red/kind.ts": `import { plan } from "./plan.ts"\nexport const red = { name: "red" }\n`,
    "src/kinds/red/plan.ts": `export function plan() {}\n`,
    "src/kinds/pink/kind.ts": `import { plan } from "../red/plan.ts"\nexport const pink = { plan }\n`,
    "src/kinds/registry.ts": `import { red } from "./red/kind.ts"\nexport const kinds = [red]\n`,
    "src/storage/rows.ts": `export function isRed(kind) {\n  return kind === "red"\n}\n`,
  })
  const places = findKindPlaces(readSources(root, ["src"]), {
    name: "red",
    own: ["src/kinds/red/"],
    madeOfIt: ["src/kinds/pink/"],
  })
  expect(places.map(({ path, line }) => `${path}:${line}`)).toEqual([
    "src/kinds/registry.ts:1",
    "src/storage/rows.ts:2",
  ])
})

test("sizes are lines of TypeScript, the longest file first", () => {
  const root = makeProject({
    "src/a.ts": "1\n",
    "src/b/c.ts": "1\n2\n3",
    "src/d.txt": "1\n2\n3\n4\n",
  })
  expect(readSizes(root, ["src"])).toEqual([
    { path: "src/b/c.ts", lines: 3 },
    { path: "src/a.ts", lines: 1 },
  ])
})

test("the ways of the service's own requests are followed to their end", () => {
  const { figures, list } = measureLayout(join(import.meta.dirname, "../.."))
  expect(figures.filter(({ reference }) => reference.startsWith("did not reach"))).toEqual([])
  expect(list).toContain("POST /commands until its webhook: files")
})
