import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { z } from "zod"
import { openKeyedCall } from "../operate/keyed-call.ts"
import type { KeyedCall } from "../operate/keyed-call.ts"
import { startReceiver } from "../receiver.ts"
import type { Receiver } from "../receiver.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const COOKIE = "session-of-the-caller-8f1c2d"
const PAGE = "the-page-of-the-fetch"

const opened = new AsyncDisposableStack()
/** A site that never answers, and so holds each fetch open. */
let site: Receiver
let service: TestService
let call: KeyedCall

beforeAll(async () => {
  site = opened.use(await startReceiver(() => undefined))
  const { host } = new URL(site.origin)
  service = opened.use(await startService({ ALLOWED_PRIVATE_HOSTS: host }))
  call = openKeyedCall(service, await service.makeKey("secrets", "paid"))
})

afterAll(async () => await opened.disposeAsync())

/**
 * Files of the state that have a text in clear: rows, their logs, objects, queues and storage of
 * objects.
 */
function filesWith(text: string): string[] {
  const names = readdirSync(service.stateDir, { recursive: true, encoding: "utf8" })
  return names.filter((name) => {
    const path = join(service.stateDir, name)
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
    return isFile && readFileSync(path).includes(text)
  })
}

it("the cookies of a fetch reach the site, and are nowhere in the state in plain text", async () => {
  const cookies = ["127.0.0.1", "FALSE", "/", "FALSE", "0", "session", COOKIE].join("\t")
  const answer = await call("/fetch", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ url: `${site.origin}/${PAGE}`, cookies }),
  })
  const { fetch_id: id } = z.looseObject({ fetch_id: z.string() }).parse(await answer.json())
  const [asked] = await site.untilReceived(1)
  expect(asked?.headers.cookie).toContain(COOKIE)
  expect(filesWith(PAGE)).not.toEqual([])
  expect(filesWith(COOKIE)).toEqual([])
  await (await call(`/jobs/${id}/cancel`, { method: "POST" })).arrayBuffer()
  expect(filesWith(COOKIE)).toEqual([])
})
