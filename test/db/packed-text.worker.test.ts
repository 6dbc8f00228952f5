import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { sha256Hex } from "../../src/platform/crypto/sha256.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { findJob } from "../../src/db/jobs/jobs.ts"
import { PACK_DICTIONARY } from "../../src/db/values/pack-dictionary.ts"
import { packText, unpackText } from "../../src/db/values/packed-text.ts"
import { makeCaller, uploadTestFile } from "../support/caller.ts"
import { makeIncompressibleText } from "../support/media/noise.ts"

const words = Array.from({ length: 200 }, (_, index) => `"codec_name":"h${index}"`).join()

describe("a packed text", () => {
  it("is read unchanged from bytes, from D1's list of bytes, and from a text", () => {
    const packed = packText(words)
    if (typeof packed === "string") throw new Error("it was not packed")
    expect(packed.byteLength).toBeLessThan(words.length / 3)
    expect(unpackText(packed)).toBe(words)
    expect(unpackText([...packed])).toBe(words)
    expect(unpackText(packed.slice().buffer)).toBe(words)
    expect(unpackText(words)).toBe(words)
  })

  it("stays a text if it is short or packing saves nothing, counting digits for a long text", () => {
    expect(packText('{"name":"clip.mp4"}')).toBe('{"name":"clip.mp4"}')
    expect(packText("x".repeat(300_000))).toBeInstanceOf(Uint8Array)
    const long = makeIncompressibleText(8000)
    expect(packText(long)).toBe(long)
    expect(packText(long.slice(0, 4000))).toBeInstanceOf(Uint8Array)
    const wide = Array.from({ length: 60 }, (_, index) => 0x4e00 + ((index * 7919) % 20_000))
    expect(packText(String.fromCharCode(...wide))).toBe(String.fromCharCode(...wide))
  })

  it("keeps every character", () => {
    const text = `${words} ü 😀 \u0000 \\ "`
    expect(unpackText(packText(text))).toBe(text)
  })

  it("is refused if its dictionary is unknown", () => {
    expect(() => unpackText(Uint8Array.of(2, 1, 1))).toThrow("unknown dictionary 2")
  })
})

describe("the dictionary", () => {
  it("is the one that packed existing rows", async () => {
    expect(await sha256Hex(PACK_DICTIONARY)).toBe(
      "63b92d82b4ffea85d976d26276754b7c9c58f60330c0fc9b064c17eb8573b7ba",
    )
  })
})

describe("the row of a job", () => {
  it("holds a long request as bytes", async () => {
    const caller = await makeCaller(`packed ${crypto.randomUUID()}`)
    const { id } = await uploadTestFile(caller, `${"long name ".repeat(9)}.mp4`, "x")
    const stored = env.DB.prepare(
      "select typeof(request) as type, account_id from jobs where id = ?",
    )
    const row = await stored.bind(id).first<{ type: string; account_id: string }>()
    expect(row?.type).toBe("blob")
    const database = openAccountDatabases(env, row?.account_id ?? "")
    const packed = (await findJob(database, id))?.request
    expect(packed).toMatchObject({ name: expect.stringContaining("long name") })
  })
})
