import { expect, test } from "vitest"
import { adaptMiniflareConfig } from "../../../scripts/build/adapt-config.ts"

const ENTRY = "core:entry"
const MAIN = "core:user:"

/** Miniflare's configuration of workerd, with one service of each type. */
function captured() {
  return {
    v8Flags: [],
    services: [
      {
        name: ENTRY,
        worker: { bindings: [{ name: "SERVICE", service: { name: MAIN } }] },
      },
      {
        name: MAIN,
        worker: {
          modules: [{ name: "index.js", esModule: "export default {}" }],
          bindings: [
            { name: "DB", wrapped: { innerBindings: [{ service: { name: "d1:entry" } }] } },
            { name: "SECRET", text: "a value of the environment" },
          ],
          globalOutbound: { name: "internet" },
          cacheApiOutbound: { name: "cache:0" },
          durableObjectStorage: { localDisk: "do:storage" },
        },
      },
      {
        name: "d1:entry",
        worker: {
          modules: [{ name: "entry.js", esModule: 'import "miniflare:used"' }],
          bindings: [
            { name: "MINIFLARE_LOOPBACK", service: { name: "loopback" } },
            { name: "OBJECT", durableObjectNamespace: { className: "D1", serviceName: "d1:db" } },
          ],
        },
      },
      { name: "d1:db", worker: { durableObjectStorage: {} } },
      { name: "do:storage", disk: { path: "/somewhere/state/do", writable: true } },
      { name: "cache:0", worker: {} },
      { name: "loopback", external: { http: {} } },
      { name: "internet", network: { allow: ["public"] } },
    ],
    sockets: [{ name: "entry", service: { name: ENTRY } }],
    extensions: [
      {
        modules: [
          { name: "miniflare:used", esModule: 'import "miniflare:deeper"' },
          { name: "miniflare:deeper", esModule: "export {}" },
        ],
      },
      {
        modules: [{ name: "miniflare:unused", esModule: 'export const self = "miniflare:unused"' }],
      },
    ],
  }
}

function find(name: string) {
  return adaptMiniflareConfig(captured(), ["LINK_SECONDS", "SECRET"]).config.services?.find(
    (each) => each.name === name,
  )
}

test("the Worker and its dependencies remain, with its outbound services and no network", () => {
  const { config } = adaptMiniflareConfig(captured(), [])
  const names = config.services?.map(({ name }) => name)
  expect(names?.slice(0, 4).toSorted()).toEqual(
    [MAIN, "d1:db", "d1:entry", "do:storage"].toSorted(),
  )
  expect(names).toEqual(expect.arrayContaining(["runner", "stores", "disk", "mails", "outbound"]))
  expect(names).not.toContain(ENTRY)
  expect(names).not.toContain("cache:0")
  expect(names).not.toContain("loopback")
  expect(find("internet")).toEqual({ name: "internet", network: { allow: [] } })
  expect(find(MAIN)).toMatchObject({ worker: { globalOutbound: { name: "outbound" } } })
})

test("settings come from workerd's environment, and no value is written into the configuration", () => {
  const { config } = adaptMiniflareConfig(captured(), ["LINK_SECONDS", "SECRET", "SECRET"])
  expect(JSON.stringify(config)).not.toContain("a value of the environment")
  expect(find(MAIN)).toMatchObject({
    worker: {
      bindings: [
        { name: "DB" },
        { name: "LINK_SECONDS", fromEnvironment: "LINK_SECONDS" },
        { name: "SECRET", fromEnvironment: "SECRET" },
        ...["RUNNER", "S3", "DISK", "MAILS", "ASSETS"].map((name) => ({ name })),
      ],
    },
  })
})

test("the sockets are those of the runner, of callers and of the start script", () => {
  expect(adaptMiniflareConfig(captured(), []).config.sockets).toEqual([
    { name: "worker", service: { name: MAIN }, http: {} },
    { name: "callers", service: { name: MAIN, entrypoint: "callers" }, http: {} },
    { name: "control", service: { name: MAIN, entrypoint: "control" }, http: {} },
  ])
})

test("no service calls Miniflare, and storage in memory stays in memory", () => {
  expect(JSON.stringify(adaptMiniflareConfig(captured(), []).config)).not.toContain(
    "MINIFLARE_LOOPBACK",
  )
  expect(find("d1:db")).toHaveProperty("worker.durableObjectStorage.inMemory")
})

test("folders have paths relative to the state folder", () => {
  expect(adaptMiniflareConfig(captured(), []).disks).toEqual({ "do:storage": "do" })
})

test("modules without an importer are omitted, whatever their name", () => {
  const { extensions = [] } = adaptMiniflareConfig(captured(), []).config
  const names = extensions.flatMap(({ modules = [] }) => modules.map(({ name }) => name))
  expect(names).toEqual(["miniflare:used", "miniflare:deeper"])
})

test("a configuration without the Worker is refused", () => {
  const services = captured().services.filter(({ name }) => name !== MAIN)
  expect(() => adaptMiniflareConfig({ ...captured(), services }, [])).toThrow(`no ${MAIN}`)
})
