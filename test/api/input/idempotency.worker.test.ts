import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { sweepDirectly } from "../../support/sweep.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"

const DAY_MS = 24 * 3_600_000

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("sends twice")
})

function command(name = "a.mp4", key: string = crypto.randomUUID()) {
  return caller.call("/commands", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({
      ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 out_1",
      input_files: {},
      output_files: { out_1: name },
    }),
  })
}

function upload(key: string, content = "x", name = "a.txt") {
  const body = new FormData()
  body.append("file", new File([content], name))
  return caller.call("/files", { method: "POST", headers: { "idempotency-key": key }, body })
}

async function count(table: string): Promise<number> {
  return Number(await env.DB.prepare(`select count(*) as n from ${table}`).first("n"))
}

async function countObjects(): Promise<number> {
  return (await env.MEDIA.list()).objects.length
}

describe("a create with an Idempotency-Key", () => {
  it("creates one job, however often it is sent, even concurrently", async () => {
    const key = crypto.randomUUID()
    const before = await count("jobs")
    const answers = await Promise.all(Array.from({ length: 8 }, () => command("a.mp4", key)))
    answers.push(await command("a.mp4", key))
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    expect(answers.map((answer) => answer.status)).toEqual(Array(9).fill(202))
    expect(new Set(bodies).size).toBe(1)
    expect(await count("jobs")).toBe(before + 1)
    expect(answers.at(-1)?.headers.get("idempotent-replayed")).toBe("true")
  })

  it("gets a 409 for another body or another path", async () => {
    const key = crypto.randomUUID()
    await command("a.mp4", key)
    for (const answer of [await command("b.mp4", key), await upload(key)]) {
      expect(answer.status).toBe(409)
      expect(await answer.json()).toMatchObject({ code: "idempotency_conflict" })
    }
  })

  it("does not affect other accounts", async () => {
    const key = crypto.randomUUID()
    const mine = await (await command("a.mp4", key)).text()
    const first = caller
    caller = await makeCaller("another")
    const theirs = await command("a.mp4", key)
    caller = first
    expect(theirs.status).toBe(202)
    expect(await theirs.text()).not.toBe(mine)
  })

  it("creates one File of a repeated upload, and keeps one object", async () => {
    const key = crypto.randomUUID()
    const before = await countObjects()
    const answers = [await upload(key), await upload(key)]
    const [one, other] = await Promise.all(answers.map((answer) => answer.json<{ id: string }>()))
    expect(answers.map((answer) => answer.status)).toEqual([201, 201])
    expect(other?.id).toBe(one?.id)
    expect(await countObjects()).toBe(before + 1)
    expect(await count("uploads")).toBe(0)
    expect((await upload(key, "y")).status).toBe(409)
    expect((await upload(key, "x", "b.txt")).status).toBe(409)
    expect(await countObjects()).toBe(before + 1)
  })

  it("is forgotten after a day", async () => {
    const key = crypto.randomUUID()
    await command("a.mp4", key)
    await env.DB.prepare("update idempotency set created_at = created_at - ? where key = ?")
      .bind(DAY_MS + 1, key)
      .run()
    expect((await command("b.mp4", key)).status).toBe(202)
    const rows = await count("idempotency")
    await sweepDirectly(env, Date.now() + DAY_MS + 1)
    expect(rows).toBeGreaterThan(0)
    expect(await count("idempotency")).toBe(0)
  })

  it("requires a key of visible ASCII characters", async () => {
    const answer = await command("a.mp4", "x".repeat(256))
    expect(answer.status).toBe(422)
    expect(JSON.stringify(await answer.json())).toContain("Idempotency-Key")
  })

  it("does not store the key of a refused request", async () => {
    const key = crypto.randomUUID()
    expect((await command("a/b.mp4", key)).status).toBe(422)
    expect((await command("b.mp4", key)).status).toBe(202)
  })
})
