import { globSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import type { LoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import { openAccount } from "../../corpus/account.ts"
import { makeMarker } from "../../corpus/canaries.ts"
import { listeningPorts } from "./listeners.ts"
import { exchange, head, statusesIn } from "./raw-http.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const BUSY_MS_MAX = 5000
const SILENCE_MS = 1500
const marker = makeMarker()
let service: TestService
let port: number
/** A host of the machine that no caller may reach through the service. */
let bystander: LoopbackServer
let calls: string[]
let objectKey: string
let fileId: string

beforeAll(async () => {
  calls = []
  bystander = await startLoopbackServer((incoming, answer) => {
    calls.push(incoming.url ?? "")
    answer.end(marker)
  })
  service = await startService({ ALLOWED_PRIVATE_HOSTS: "127.0.0.1" })
  port = Number(new URL(service.origin).port)
  const account = openAccount(service.origin, await service.makeKey("one"))
  fileId = (await account.upload("secret.txt", marker)).id
  objectKey = keyOf(fileId)
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await bystander[Symbol.asyncDispose]()
})

/** Where R2 has the bytes of a file. */
function keyOf(id: string): string {
  const paths = globSync(join(service.stateDir, "v3/d1/**/*.sqlite"))
  const path = paths.find((each) => !each.endsWith("metadata.sqlite")) ?? ""
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS_MAX })
  try {
    const row = database.prepare("select object_key from files where id = ?").get(id)
    return z.object({ object_key: z.string() }).parse(row).object_key
  } finally {
    database.close()
  }
}

type Door = {
  name: string
  /** The head for a port that it is sent to. */
  head: (at: number) => string
  /** Whether what came back shows that the door is open. */
  isOpen: (answer: string) => boolean
}

function servesMarker(answer: string): boolean {
  return answer.includes(marker)
}

function succeeds(answer: string): boolean {
  return statusesIn(answer).some((status) => status < 400)
}

function fails(answer: string): boolean {
  return statusesIn(answer).some((status) => status >= 500) || tellsOfItself(answer)
}

function tellsOfItself(answer: string): boolean {
  return /\n\s+at |Error:/.test(answer)
}

function doors(): Door[] {
  const reached = `127.0.0.1:${bystander.port}`
  const r2 = `/cdn-cgi/local/r2/public/lathe-media/${objectKey}`
  const r2Paths = [
    r2,
    `/${r2}`,
    `/.${r2}`,
    `/v1/..${r2}`,
    `/v1/%2e%2e${r2}`,
    r2.replace("/cdn-cgi", "/%63dn-cgi"),
    r2.replace("/cdn-cgi/local", "//cdn-cgi//local"),
    r2.replaceAll("/local/", "%2flocal%2f"),
    r2.replaceAll("/", "\\").replace("\\", "/"),
    `/v1/health/../..${r2}`,
  ]
  function own(at: number): string {
    return `Host: 127.0.0.1:${at}`
  }
  return [
    ...["outbound", "lathe", "core:user:outbound"].flatMap((route) =>
      [reached, `localhost:${bystander.port}`].map((host) => ({
        name: `MF-Route-Override: ${route} with the host ${host}`,
        head: () => head("GET /stolen HTTP/1.1", `Host: ${host}`, `MF-Route-Override: ${route}`),
        isOpen: servesMarker,
      })),
    ),
    {
      name: "MF-Route-Override with an absolute target",
      head: (at) =>
        head(`GET http://${reached}/stolen HTTP/1.1`, own(at), "MF-Route-Override: outbound"),
      isOpen: servesMarker,
    },
    {
      name: "MF-Route-Override with an original URL",
      head: (at) =>
        head(
          "GET /v1/health HTTP/1.1",
          own(at),
          "MF-Route-Override: outbound",
          `MF-Original-URL: http://${reached}/stolen`,
        ),
      isOpen: servesMarker,
    },
    {
      name: "the URL header of the outbound Worker",
      head: (at) =>
        head("GET /stolen HTTP/1.1", own(at), `Lathe-Outbound-Url: http://${reached}/stolen`),
      isOpen: servesMarker,
    },
    {
      name: "MF-Original-URL",
      head: (at) => head("GET /v1/files HTTP/1.1", own(at), `MF-Original-URL: http://x/v1/health`),
      isOpen: succeeds,
    },
    ...r2Paths.map((path) => ({
      name: `the object by ${path.replace(objectKey, "<key>")}`,
      head: (at: number) => head(`GET ${path} HTTP/1.1`, own(at)),
      isOpen: servesMarker,
    })),
    {
      name: "the object by an original URL",
      head: (at) =>
        head("GET /v1/health HTTP/1.1", own(at), `MF-Original-URL: http://127.0.0.1${r2}`),
      isOpen: servesMarker,
    },
    ...[
      "MF-CF-Blob: {",
      "MF-Access-Blob: {",
      "MF-Proxy-Shared-Secret: x",
      "MF-Original-URL: x",
    ].map((header) => ({
      name: `a failure by ${header}`,
      head: (at: number) => head("GET /v1/health HTTP/1.1", own(at), header),
      isOpen: fails,
    })),
    ...["scheduled", "email", "explorer", "explorer/api", "r2/s3/", "platform-proxy"].map(
      (path) => ({
        name: `/cdn-cgi/local/${path}`,
        head: (at: number) =>
          head(`GET /cdn-cgi/local/${path} HTTP/1.1`, own(at), "MF-Op: GET", "MF-Op-Target: [1]"),
        isOpen: succeeds,
      }),
    ),
    ...["stream", "imagedelivery", "imageupload"].map((path) => ({
      name: `/__cf_local/${path}`,
      head: (at: number) => head(`GET /__cf_local/${path}/x HTTP/1.1`, own(at)),
      isOpen: succeeds,
    })),
    ...["/core/store-temp-file?prefix=a&extension=b", "/core/log", "/core/error"].map((path) => ({
      name: `the loopback server's ${path}`,
      head: (at: number) => head(`POST ${path} HTTP/1.1`, own(at), "Content-Length: 0"),
      isOpen: succeeds,
    })),
    {
      name: "a node handler of the loopback server",
      head: (at) =>
        head(
          "GET /stolen HTTP/1.1",
          own(at),
          "MF-Custom-Node-Service: 1#HANDLER",
          `Lathe-Outbound-Url: http://${reached}/stolen`,
        ),
      isOpen: servesMarker,
    },
    ...[reached, "miniflare-unsafe-internal-capnp-connect:80"].map((host) => ({
      name: `a tunnel to ${host}`,
      head: () => head(`CONNECT ${host} HTTP/1.1`, `Host: ${host}`),
      isOpen: succeeds,
    })),
    {
      // Another test shows that the service survives it.
      name: "a target that is no path",
      head: (at) => head("GET // HTTP/1.1", own(at)),
      isOpen: tellsOfItself,
    },
    {
      name: "an upgrade",
      head: (at) =>
        head(
          "GET // HTTP/1.1",
          own(at),
          "Connection: Upgrade",
          "Upgrade: websocket",
          "Sec-WebSocket-Version: 13",
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ),
      isOpen: (answer) => statusesIn(answer).includes(101) || tellsOfItself(answer),
    },
  ]
}

/** The doors that are open at a port, by their names. */
async function openDoors(at: number): Promise<string[]> {
  const tried = await Promise.all(
    doors().map(async (door) => {
      // A closed door sends no answer.
      const answer = await exchange(at, door.head(at), { firstMs: SILENCE_MS })
      return door.isOpen(answer) ? `${door.name}: ${answer.slice(0, 80)}` : null
    }),
  )
  return tried.filter((each) => each !== null)
}

describe("no door of the emulator is open", () => {
  test("on the port of callers", async () => {
    expect(await openDoors(port)).toEqual([])
    expect(calls).toEqual([])
  })

  test("on any other port of its processes, none of which answers without a secret", async () => {
    const others = listeningPorts(service.pid).filter((each) => each !== port)
    // Miniflare's loopback server, its entry worker, the runner.
    expect(others.length).toBeLessThanOrEqual(3)
    for (const each of others) {
      expect(await openDoors(each)).toEqual([])
      for (const path of ["/v1/health", "/", "/health", `/io/${fileId}/reports`]) {
        const asked = head(`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${each}`)
        expect([401, 403]).toContain(statusesIn(await exchange(each, asked))[0])
      }
    }
    expect(calls).toEqual([])
  })

  test("the service still serves", async () => {
    process.kill(service.pid, 0)
    expect((await fetch(`${service.origin}/v1/health`)).status).toBe(200)
  })
})
