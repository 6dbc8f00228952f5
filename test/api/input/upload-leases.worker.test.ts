import { env } from "cloudflare:workers"
import { afterEach, expect, test, vi } from "vitest"
import {
  UPLOAD_LEASE_MS,
  CONCURRENT_UPLOADS_MAX,
} from "../../../src/accounts/rate-limit/upload-leases.ts"

afterEach(() => {
  vi.useRealTimers()
})

function open(key: string) {
  vi.useFakeTimers({ toFake: ["Date"] })
  return env.RATE_LIMITER.getByName(key)
}

test("a key has a limited number of upload leases, and an ended upload frees its lease", async () => {
  const limiter = open("full")
  for (let count = 0; count < CONCURRENT_UPLOADS_MAX; count += 1) {
    expect(await limiter.beginUpload(`upload ${count}`)).toBe(true)
  }
  expect(await limiter.beginUpload("one more")).toBe(false)
  await limiter.endUpload("upload 0")
  expect(await limiter.beginUpload("one more")).toBe(true)
})

test("a lease that is not renewed expires, and a renewed lease does not", async () => {
  const limiter = open("lost")
  for (let count = 0; count < CONCURRENT_UPLOADS_MAX; count += 1)
    await limiter.beginUpload(`upload ${count}`)
  vi.setSystemTime(Date.now() + UPLOAD_LEASE_MS / 2)
  for (let count = 1; count < CONCURRENT_UPLOADS_MAX; count += 1)
    await limiter.renewUpload(`upload ${count}`)
  vi.setSystemTime(Date.now() + UPLOAD_LEASE_MS / 2 + 1)
  expect(await limiter.beginUpload("after the lost one")).toBe(true)
  expect(await limiter.beginUpload("one more")).toBe(false)
})
