import { afterEach, expect, test } from "vitest"
import { removeProjects, wayOf, work } from "./layout-project.ts"

afterEach(removeProjects)

const APP = `import { Hono } from "hono"
import { allow } from "./http/allow.ts"
import { mount } from "./http/operation.ts"
import { OPERATIONS } from "./operations.ts"
const v1 = new Hono()
mount(v1, OPERATIONS.filter(({ isOpen }) => isOpen))
v1.use("*", allow)
mount(v1, OPERATIONS.filter(({ isOpen }) => !isOpen))
export const app = new Hono()
app.route("/v1", v1)
`

const OPERATION = `export function operation(specified) {
  const { handle, ...facts } = specified
  async function respond(c) { return await handle(c) }
  return { ...facts, respond }
}
export function mount(app, operations) {
  const byPath = Map.groupBy(operations, ({ path }) => path)
  for (const path of byPath.keys()) {
    const route = path.replaceAll(/\\{(\\w+)\\}/g, ":$1")
    const those = byPath.get(path) ?? []
    for (const { method, respond } of those) app.on(method, [route], respond)
    app.all(route, () => refuse())
  }
}
function refuse() {}
`

const OPERATIONS = `import { KINDS } from "./kinds/registry.ts"
import { kindOperations } from "./routes/kind.ts"
import { otherOperations } from "./others/operations.ts"
export const OPERATIONS = [
  ...otherOperations,
  ...KINDS.flatMap((kind) => kind.withTypes(kindOperations)),
]
`

const KIND_OPERATIONS = `import { operation } from "../http/operation.ts"
import { create } from "../creates/create.ts"
export function kindOperations(kind) {
  const { path } = kind
  const made = operation({ method: "post", path: \`/\${path}\`, handle: (c) => create(c, kind) })
  return [made]
}
`

const PROJECT = {
  "src/app.ts": APP,
  "src/http/allow.ts": `export async function allow(c, next) { await next() }\n`,
  "src/http/operation.ts": OPERATION,
  "src/operations.ts": OPERATIONS,
  "src/routes/kind.ts": KIND_OPERATIONS,
  "src/others/operations.ts": `import { operation } from "../http/operation.ts"
import { other } from "../others/other.ts"
export const otherOperations = [
  operation({ method: "post", path: "/{name}", handle: other }),
  operation({ method: "get", path: "/things", handle: other }),
]
`,
  "src/others/other.ts": work("other"),
  "src/creates/create.ts": `export function create(c, kind) { kind.plan(c.body) }\n`,
  "src/kinds/registry.ts": `import { red } from "./red.ts"\nimport { blue } from "./blue.ts"\nexport const KINDS = [blue, red]\n`,
  "src/kinds/kind.ts": `export function jsonKind(kind) { return { ...kind, withTypes: (use) => use(kind) } }\n`,
  "src/kinds/red.ts": `import { jsonKind } from "./kind.ts"
import { plan } from "../plans/red.ts"
export const red = jsonKind({ name: "red", path: "things", plan })
`,
  "src/kinds/blue.ts": `import { jsonKind } from "./kind.ts"
import { plan } from "../plans/blue.ts"
export const blue = jsonKind({ name: "blue", path: "others", plan })
`,
  "src/plans/red.ts": work("plan"),
  "src/plans/blue.ts": work("plan"),
}

test("an operation is found by its method and path, and by the path of the trip's kind", () => {
  expect(wayOf(PROJECT).files).toEqual([
    "src/http/allow.ts",
    "src/http/operation.ts",
    "src/routes/kind.ts",
    "src/creates/create.ts",
    "src/plans/red.ts",
  ])
})

test("a namespace leads to the class that implements its type, and a path to its route", () => {
  const { files } = wayOf({
    ...PROJECT,
    "src/plans/red.ts": `export function plan() { env.BOX.getByName("a").open() }\n`,
    "src/env.ts": `import type { BoxRpc } from "./rpc.ts"\nexport type Env = { BOX: DurableObjectNamespace<BoxRpc> }\n`,
    "src/rpc.ts": `export type BoxRpc = { open(): Promise<void> }\n`,
    "src/box/box.ts": `import type { BoxRpc } from "../rpc.ts"\nexport class Box extends DurableObject implements BoxRpc { async open() { fetch(ask("POST", "/tasks")) } }\n`,
    "container/server.ts": `import { Router } from "itty-router"\nimport { store } from "./store.ts"\nexport const router = Router().post("/tasks", () => store({ place: "/outputs/a" }))\n`,
    "container/store.ts": `import { each } from "./each.ts"\nimport { put } from "./put.ts"\nexport function store(file) { each([() => put(file.place)], (step) => step()) }\n`,
    "container/each.ts": `import pMap from "p-map"\nexport async function each(items, work) { await pMap(items, async (item) => await work(item)) }\n`,
    "container/put.ts": `export function put(place) { send(place, { method: "PUT" }) }\n`,
    "src/io.ts": `import { Hono } from "hono"\nimport { keep } from "./keep/keep.ts"\nexport function makeIo() {\n  const io = new Hono()\n  for (const place of ["/:task/outputs/:key"]) io.put(place, () => keep())\n  return io\n}\n`,
    "src/keep/keep.ts": work("keep"),
    "src/app.ts": `import { makeIo } from "./io.ts"\n${APP}app.route("/io", makeIo())\n`,
  })
  expect(files.slice(5)).toEqual([
    "src/box/box.ts",
    "container/server.ts",
    "container/store.ts",
    "container/each.ts",
    "container/put.ts",
    "src/io.ts",
    "src/keep/keep.ts",
  ])
})

test("functions that call each other in circles are followed to an end", () => {
  const names = Array.from({ length: 9 }, (_, index) => `f${index}`)
  const all = names.map((name) => `${name}(x)`).join(" ?? ")
  const circles = names.map((name) => `export function ${name}(x) { return ${all} ?? x.end }`)
  const { files } = wayOf({
    ...PROJECT,
    "src/plans/red.ts": `import { f0 } from "../circles/circles.ts"\nimport { end } from "../ends/end.ts"\nexport function plan() { f0({ end })() }\n`,
    "src/circles/circles.ts": circles.join("\n"),
    "src/ends/end.ts": work("end"),
  })
  expect(files.slice(5)).toEqual(["src/circles/circles.ts", "src/ends/end.ts"])
})
