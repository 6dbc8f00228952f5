import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { fetched, startFetchHarness } from "./fetch-harness.ts"
import type { FetchHarness } from "./fetch-harness.ts"

let lab: FetchHarness

beforeAll(async () => {
  lab = await startFetchHarness()
})

afterAll(async () => {
  await lab[Symbol.asyncDispose]()
})

describe("a fetch", () => {
  test("stores the video of a page", async () => {
    const result = fetched(await lab.fetch("/page/video?title=A / clip"))
    expect(result).toMatchObject({ title: "A / clip", media: { name: "A - clip.mp4" } })
  })
})
