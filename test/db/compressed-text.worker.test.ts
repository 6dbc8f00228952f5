import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { sha256Hex } from "../../src/platform/crypto/sha256.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { findJob } from "../../src/db/jobs/jobs.ts"
import { COMPRESSION_DICTIONARY } from "../../src/db/values/compression-dictionary.ts"
import { compressText, decompressText } from "../../src/db/values/compressed-text.ts"
import { makeCaller, uploadTestFile } from "../support/caller.ts"
import { makeIncompressibleText } from "../support/media/noise.ts"

const words = Array.from({ length: 200 }, (_, index) => `"codec_name":"h${index}"`).join()

describe("a compressed text", () => {
  it("is read unchanged from bytes, from D1's list of bytes, and from a text", () => {
    const compressed = compressText(words)
    if (typeof compressed === "string") throw new Error("it was not compressed")
    expect(compressed.byteLength).toBeLessThan(words.length / 3)
    expect(decompressText(compressed)).toBe(words)
    expect(decompressText([...compressed])).toBe(words)
    expect(decompressText(compressed.slice().buffer)).toBe(words)
    expect(decompressText(words)).toBe(words)
  })

  it("stays a text if it is short or compression saves nothing, counting digits for a long text", () => {
    expect(compressText('{"name":"clip.mp4"}')).toBe('{"name":"clip.mp4"}')
    expect(compressText("x".repeat(300_000))).toBeInstanceOf(Uint8Array)
    const long = makeIncompressibleText(8000)
    expect(compressText(long)).toBe(long)
    expect(compressText(long.slice(0, 4000))).toBeInstanceOf(Uint8Array)
    const wide = Array.from({ length: 60 }, (_, index) => 0x4e00 + ((index * 7919) % 20_000))
    expect(compressText(String.fromCharCode(...wide))).toBe(String.fromCharCode(...wide))
  })

  it("keeps every character", () => {
    const text = `${words} ü 😀 \u0000 \\ "`
    expect(decompressText(compressText(text))).toBe(text)
  })

  it("is refused if its dictionary is unknown", () => {
    expect(() => decompressText(Uint8Array.of(2, 1, 1))).toThrow("unknown dictionary 2")
  })
})

describe("the dictionary", () => {
  it("is the one that compressed existing rows", async () => {
    expect(await sha256Hex(COMPRESSION_DICTIONARY)).toBe(
      "63b92d82b4ffea85d976d26276754b7c9c58f60330c0fc9b064c17eb8573b7ba",
    )
  })
})

describe("the row of a job", () => {
  it("holds a long request as bytes", async () => {
    const caller = await makeCaller(`compressed ${crypto.randomUUID()}`)
    const { id } = await uploadTestFile(caller, `${"long name ".repeat(9)}.mp4`, "x")
    const stored = env.DB.prepare(
      "select typeof(request) as type, account_id from jobs where id = ?",
    )
    const row = await stored.bind(id).first<{ type: string; account_id: string }>()
    expect(row?.type).toBe("blob")
    const database = openAccountDatabases(env, row?.account_id ?? "")
    const compressed = (await findJob(database, id))?.request
    expect(compressed).toMatchObject({ name: expect.stringContaining("long name") })
  })
})
