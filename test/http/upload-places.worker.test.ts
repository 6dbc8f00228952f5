import { env } from "cloudflare:workers"
import { afterEach, expect, test, vi } from "vitest"
import { UPLOAD_LEASE_MS, UPLOADS_MAX } from "../../src/http/upload-places.ts"

afterEach(() => {
  vi.useRealTimers()
})

function open(key: string) {
  vi.useFakeTimers({ toFake: ["Date"] })
  return env.RATE_LIMITER.getByName(key)
}

test("a key has so many places, and one that is given back is free", async () => {
  const limiter = open("full")
  for (let count = 0; count < UPLOADS_MAX; count += 1) {
    expect(await limiter.beginUpload(`upload ${count}`)).toBe(true)
  }
  expect(await limiter.beginUpload("one more")).toBe(false)
  await limiter.endUpload("upload 0")
  expect(await limiter.beginUpload("one more")).toBe(true)
})

test("an upload of which nothing is heard any more leaves its place, and one that goes on does not", async () => {
  const limiter = open("lost")
  for (let count = 0; count < UPLOADS_MAX; count += 1) await limiter.beginUpload(`upload ${count}`)
  vi.setSystemTime(Date.now() + UPLOAD_LEASE_MS / 2)
  for (let count = 1; count < UPLOADS_MAX; count += 1) await limiter.renewUpload(`upload ${count}`)
  vi.setSystemTime(Date.now() + UPLOAD_LEASE_MS / 2 + 1)
  expect(await limiter.beginUpload("after the lost one")).toBe(true)
  expect(await limiter.beginUpload("one more")).toBe(false)
})
