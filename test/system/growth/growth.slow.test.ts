import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { z } from "zod"
import { findWorkerdPid, readResidentBytes } from "../../../scripts/cli/processes/memory.ts"
import { findMediaTools } from "../../../scripts/cli/media-tools.ts"
import { selectCases } from "../../support/wide.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { EXAMPLE_ID } from "../../../src/platform/ids.ts"
import { signInAsOperator } from "../operate/visitor.ts"
import { growingBodies, growingCommands, INPUT, readOperations, sampled } from "./bodies.ts"
import type { Growing, WithBody } from "./bodies.ts"
import { TEXTS } from "./grammars.ts"
import { loopMs } from "./held-time.ts"

/** The largest bodies are a little smaller than a JSON body may be. */
const BYTES = 1000 * 1024
const DOUBLINGS = 4
/** A request that takes less than this at its largest is judged in time, however it grows. */
const SMALL_MS = 30
/**
 * Growth for each doubling, over two of them, since a busy machine makes one of them look longer.
 */
const GROWTH_MAX = 3
/** The event loop may be held so long; beside a slower machine's reference, longer. */
const HELD_MS_MAX = 100
const REFERENCES_MAX = 30
/** For thousands of requests of a megabyte. */
const WIDE_MS_MAX = 40 * 60 * 1000
const GROWN_BYTES_MAX = 100 * 1024 * 1024

let service: TestService
let workerdPid: number
let key: string
let input: string
let operations: WithBody[]

beforeAll(async () => {
  service = await startService({
    FFMPEG_FACTS: "image",
    ALLOWED_PRIVATE_HOSTS: "127.0.0.1:9",
    PAID_REQUESTS_PER_MINUTE: "1000000",
  })
  workerdPid = findWorkerdPid(service.pid) ?? 0
  key = await service.makeKey("growth", "paid")
  input = await storeClip()
  operations = readOperations(await (await fetch(`${service.origin}/v1/openapi.json`)).json())
})

afterAll(async () => await service[Symbol.asyncDispose]())

/** A film with sound that the account has, so that its streams are judged too. */
async function storeClip(): Promise<string> {
  const path = join(service.stateDir, "clip.mp4")
  const sources = ["testsrc=size=64x64:rate=5:duration=1", "sine=duration=1"]
  const inputs = sources.flatMap((source) => ["-f", "lavfi", "-i", source])
  execFileSync(findMediaTools().ffmpeg, ["-v", "error", ...inputs, path])
  const body = new FormData()
  body.append("file", new File([readFileSync(path)], "clip.mp4"))
  const headers = { "x-api-key": key, prefer: "wait=30" }
  const answer = await fetch(`${service.origin}/v1/files`, { method: "POST", headers, body })
  const { id } = z.looseObject({ id: z.uuid() }).parse(await answer.json())
  return `svc_id://${id}`
}

async function post(path: string, body: object): Promise<Response> {
  const text = JSON.stringify(body).replaceAll(INPUT, input)
  return await fetch(`${service.origin}/v1${path.replaceAll("{id}", EXAMPLE_ID)}`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: text,
  })
}

/** How long the answer to a request holds the event loop, in milliseconds. */
async function held(send: () => Promise<Response>): Promise<number> {
  const before = { ms: loopMs(workerdPid), bytes: readResidentBytes(workerdPid) ?? 0 }
  const answer = await send()
  await answer.arrayBuffer()
  const heldMs = loopMs(workerdPid) - before.ms
  expect(answer.status).toBeLessThan(500)
  expect((readResidentBytes(workerdPid) ?? 0) - before.bytes).toBeLessThan(GROWN_BYTES_MAX)
  return heldMs
}

/** The least of three: what else the service does meanwhile is not the request's. */
async function leastHeld(send: () => Promise<Response>): Promise<number> {
  return Math.min(await held(send), await held(send), await held(send))
}

/**
 * Reports whether a request holds the event loop too long. A busy machine is slower now and then,
 * so that the request and its reference are measured up to three times, each pair together.
 */
async function isHeldTooLong(send: () => Promise<Response>): Promise<boolean> {
  for (let tries = 0; tries < 3; tries += 1) {
    const before = await held(postReference)
    const heldMs = await leastHeld(send)
    const reference = Math.max(before, await held(postReference))
    if (heldMs <= Math.max(HELD_MS_MAX, REFERENCES_MAX * reference)) return false
  }
  return true
}

/** A body of the largest size that is refused by its schema. */
async function postReference(): Promise<Response> {
  return await post("/commands/validate", { url: "x".repeat(BYTES) })
}

/** A request that grows; `name` says how. */
type Way = { name: string; sendAt: (bytes: number) => Promise<Response> }

/** Names each way whose requests hold the event loop too long, or ever longer, with their times. */
async function judge(ways: readonly Way[], largest = BYTES): Promise<string[]> {
  const wrong: string[] = []
  for (const { name, sendAt } of ways) {
    if ((await held(() => sendAt(largest))) <= SMALL_MS) continue
    const times: number[] = []
    for (let doubling = DOUBLINGS; doubling >= 0; doubling -= 1) {
      times.push(await leastHeld(() => sendAt(largest / 2 ** doubling)))
    }
    const [quarter = 0, , last = 0] = times.slice(-3)
    const isFast = last > Math.max(SMALL_MS, GROWTH_MAX ** 2 * quarter)
    if (!isFast && !(await isHeldTooLong(() => sendAt(largest)))) continue
    wrong.push(`${name}: ${times.map((ms) => ms.toFixed(1)).join(", ")} ms`)
  }
  return wrong
}

function waysOf({ path }: WithBody, growing: readonly Growing[]): Way[] {
  return growing.map(({ name, at }) => ({
    name: `${path} ${name}`,
    sendAt: (bytes) => post(path, at(bytes)),
  }))
}

it("no JSON body holds the event loop", { timeout: WIDE_MS_MAX }, async () => {
  expect(operations.length).toBeGreaterThan(10)
  const ways = operations.flatMap((operation) => waysOf(operation, growingBodies(operation)))
  expect(await judge(ways)).toEqual([])
})

const COMMAND_PATHS = selectCases(["/commands/validate"], ["/commands", "/ffmpeg"])

it("no command line holds the event loop", { timeout: WIDE_MS_MAX }, async () => {
  const those = operations.filter(({ path }) => COMMAND_PATHS.includes(path))
  const ways = those.flatMap((operation) => waysOf(operation, growingCommands(operation)))
  expect(await judge(ways)).toEqual([])
})

/** Heads of requests may have little more. */
const HEAD_BYTES = 14 * 1024
const HEADERS = [
  "accept",
  "authorization",
  "cookie",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "last-event-id",
  "origin",
  "prefer",
  "range",
  "traceparent",
  "user-agent",
  "x-api-key",
  "x-request-id",
]

async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const redirect = "manual"
  return await fetch(`${service.origin}${path}`, {
    redirect,
    headers: { "x-api-key": key, ...headers },
  })
}

it("no header holds the event loop", async () => {
  const ways = HEADERS.flatMap((header) => {
    return ["/v1/jobs", "/v1/nosuch", "/jobs"].flatMap((path) => {
      return sampled(TEXTS).map((grow, place): Way => {
        return {
          name: `${header} of ${path}, text ${place}`,
          sendAt: (bytes) => get(path, { [header]: grow(bytes).replaceAll(/[^\x21-\x7e]/g, " ") }),
        }
      })
    })
  })
  expect(await judge(ways, HEAD_BYTES)).toEqual([])
})

it("no path and no query holds the event loop", async () => {
  const paths = [
    "/v1/",
    "/",
    "/docs/errors/",
    "/v1/jobs/",
    "/v1/jobs?status=",
    "/v1/files?cursor=",
    "/media/",
    "/public/",
  ]
  const texts = paths.flatMap((path) => {
    return sampled(TEXTS).map((grow, place): Way => {
      return {
        name: `${path}, text ${place}`,
        sendAt: (bytes) => get(path + encodeURIComponent(grow(bytes / 3)).slice(0, bytes)),
      }
    })
  })
  const parameters: Way[] = [
    { name: "one name", sendAt: (bytes) => get(`/v1/jobs?${"a=1&".repeat(bytes / 4)}`) },
    {
      name: "names",
      sendAt: (bytes) => get(`/v1/jobs?${formOf(bytes, (at) => [`a${at}`, "1"]).toString()}`),
    },
  ]
  expect(await judge([...texts, ...parameters], HEAD_BYTES)).toEqual([])
})

/** A little less than a field of a multipart body may have. */
const FIELD_BYTES = 60 * 1024

it("no multipart form holds the event loop", async () => {
  const ways = ["/files", "/normalize", "/transcribe"].flatMap((path) => {
    return ["metadata", "webhook", "file_url", "priority", "nosuch"].flatMap((field) => {
      return sampled(TEXTS).map((grow, place): Way => {
        return {
          name: `${path} ${field}, text ${place}`,
          sendAt: async (bytes) => {
            const body = new FormData()
            body.append(field, grow(bytes))
            const headers = { "x-api-key": key }
            return await fetch(`${service.origin}/v1${path}`, { method: "POST", headers, body })
          },
        }
      })
    })
  })
  expect(await judge(ways, FIELD_BYTES)).toEqual([])
})

/** A form of the dashboard may have so many. */
const FORM_BYTES = 8 * 1024

it("no form of the dashboard holds the event loop", async () => {
  const person = { email: "operator@lathe.test", password: "a password of some length" }
  const { visitor } = await signInAsOperator(service, person)
  const forms: Record<string, (bytes: number) => URLSearchParams> = {
    "one field": (bytes) => formOf(bytes, () => ["name", "a"]),
    names: (bytes) => formOf(bytes, (place) => [`name${place}`, "a"]),
  }
  const pages = ["/keys", "/webhooks", "/settings/password", "/sign-in", "/sign-up"]
  const ways = pages.flatMap((page) => {
    return Object.entries(forms).map(([name, form]): Way => {
      return {
        name: `${page}, ${name}`,
        sendAt: (bytes) => {
          const headers = { origin: service.origin }
          return visitor.visit(page, { method: "POST", headers, body: form(bytes) })
        },
      }
    })
  })
  expect(await judge(ways, FORM_BYTES)).toEqual([])
})

/** A form of about so many bytes. */
function formOf(bytes: number, fieldAt: (place: number) => [string, string]): URLSearchParams {
  return new URLSearchParams(Array.from({ length: bytes / 12 }, (_, place) => fieldAt(place)))
}
