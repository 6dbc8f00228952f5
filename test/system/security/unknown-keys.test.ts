import { readdirSync } from "node:fs"
import { afterAll, beforeAll, expect, it } from "vitest"
import { assembleApiKey } from "../../../src/platform/crypto/api-key.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

/** More than may come from an address in a minute. */
const UNKNOWN = 250
const LIMIT = 100

let service: TestService

beforeAll(async () => {
  service = await startService({ RUNNER_CAPACITY: "1", CLIENT_ADDRESS_HEADER: "x-real-ip" })
})

afterAll(async () => await service[Symbol.asyncDispose]())

async function statusOf(key: string, address: string): Promise<number> {
  const headers = { "x-api-key": key, "x-real-ip": address }
  const answer = await fetch(`${service.origin}/v1/files`, { headers })
  await answer.body?.cancel()
  return answer.status
}

/** Files of the objects that count requests. */
function countLimiters(): number {
  const paths = readdirSync(service.stateDir, { recursive: true, encoding: "utf8" })
  return paths.filter((path) => /RateLimiter\/[0-9a-f]{64}\.sqlite$/.test(path)).length
}

it("unknown keys leave nothing, are limited by address, and do not block valid keys of that address", async () => {
  const key = await service.makeKey("good")
  expect(await statusOf(key, "192.0.2.1")).toBe(200)
  await expect.poll(countLimiters).toBe(1)
  const statuses: number[] = []
  for (let sent = 0; sent < UNKNOWN; sent += 1) {
    statuses.push(await statusOf(assembleApiKey(), "192.0.2.1"))
  }
  // A minute may begin meanwhile.
  const unlimited = statuses.filter((status) => status === 401).length
  expect(unlimited).toBeGreaterThanOrEqual(LIMIT)
  expect(unlimited).toBeLessThanOrEqual(2 * LIMIT)
  expect(statuses.filter((status) => status === 429)).toHaveLength(UNKNOWN - unlimited)
  expect(await statusOf(assembleApiKey(), "192.0.2.2")).toBe(401)
  const another = await service.makeKey("another")
  for (const good of [key, another]) expect(await statusOf(good, "192.0.2.1")).toBe(200)
  await expect.poll(countLimiters).toBe(2)
})
