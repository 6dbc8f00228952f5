import { describe, expect, it } from "vitest"
import { z } from "zod"
import { countUtf8Bytes } from "../../src/contract/bundle.ts"
import { serializeWebhookEvent } from "../../src/webhooks/outbox.ts"

const BODY_BYTES_MAX = 256_000

const event = { type: "command.succeeded", timestamp: "2026-11-21T00:00:00.000Z" }
const head = { id: "the id", status: "failed", error: "It failed.", error_code: "no_output" }
const sent = z.looseObject({
  data: z.looseObject({ truncated: z.array(z.string()).optional() }),
})

function write(fields: object) {
  const body = serializeWebhookEvent({ ...event, data: { ...head, ...fields } })
  expect(countUtf8Bytes(body)).toBeLessThanOrEqual(BODY_BYTES_MAX)
  const { data } = sent.parse(JSON.parse(body))
  expect(data).toMatchObject(head)
  return data
}

describe("the body of a webhook", () => {
  it("is the whole record if that is small enough, up to the last byte", () => {
    const length = countUtf8Bytes(serializeWebhookEvent({ ...event, data: { ...head, note: "" } }))
    const note = "x".repeat(BODY_BYTES_MAX - length)
    expect(write({ note })).toEqual({ ...head, note })
    expect(write({ note: `${note}x` })).toEqual({ ...head, note: null, truncated: ["note"] })
  })

  it("omits the largest fields, and no more than needed", () => {
    const output_files = Object.fromEntries(
      [150, 100, 90, 1].map((kilobytes, index) => [
        `out_${index + 1}`,
        { name: "a.m3u8", files: [{ name: "x".repeat(kilobytes * 1000) }] },
      ]),
    )
    const data = write({ output_files, metadata: { about: "x" } })
    expect(data.truncated).toEqual(["output_files.out_1.files"])
    expect(data).toMatchObject({
      metadata: { about: "x" },
      output_files: { ...output_files, out_1: { name: "a.m3u8", files: null } },
    })
  })

  it("counts bytes, not characters", () => {
    expect(write({ lines: ["€".repeat(100_000)] }).truncated).toEqual(["lines"])
  })

  it("omits whole fields with too many small fields", () => {
    const names = Array.from({ length: 20_000 }, (_, index) => [`key ${index}`, "a value"])
    expect(write({ metadata: Object.fromEntries(names) })).toEqual({
      ...head,
      metadata: null,
      truncated: ["metadata"],
    })
  })
})
