import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { newId } from "../../src/platform/ids.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { saveDeliveryTry, insertDelivery } from "../../src/db/deliveries.ts"
import type { NewDelivery } from "../../src/db/deliveries.ts"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"
import type { SignedInCaller } from "../support/accounts/signed-in.ts"

const HOUR_MS = 3_600_000

let person: SignedInCaller

beforeEach(async () => {
  person = await makeSignedInUser()
})

async function makeDelivery(changes: Partial<NewDelivery> = {}, owner = person.accountId) {
  const now = Date.now()
  const made = {
    id: newId(),
    jobId: null,
    type: "command.succeeded",
    url: "https://receiver.example/hook",
    body: "{}",
    state: "waiting" as const,
    nextTryAt: now + HOUR_MS,
    createdAt: now,
    ...changes,
  }
  await insertDelivery(openAccountDatabases(env, owner), made)
  return made.id
}

async function makeTry(id: string, { answer, error }: { answer: string; error: string | null }) {
  const database = openAccountDatabases(env, person.accountId)
  const made = { startedAt: Date.now(), durationMs: 1234, status: 503, error, answer }
  const set = { state: "failed" as const, tries: 1, nextTryAt: 0, completedAt: Date.now() }
  const read = { id, nextTryAt: 0, endpointId: "", url: "" }
  await saveDeliveryTry(database, read, made, { set, receiver: null, isGone: false })
}

async function read(path: string): Promise<string> {
  return await (await person.visit(path)).text()
}

async function secret(): Promise<string> {
  const row = env.DB.prepare("select webhook_secret from accounts where id = ?")
  return String(await row.bind(person.accountId).first("webhook_secret"))
}

describe("the page of webhooks", () => {
  it("explains how to get a first delivery if there is none", async () => {
    const html = await read("/webhooks")
    expect(html).toContain("No deliveries yet")
    expect(html).toContain("https://lathe.test/v1/commands")
    expect(html).toContain("standardwebhooks")
  })

  it("lists deliveries of its account only, filtered by its query", async () => {
    const other = await makeSignedInUser()
    const strange = await makeDelivery({}, other.accountId)
    const jobId = newId()
    const [waiting, failed] = [
      await makeDelivery({ jobId }),
      await makeDelivery({ state: "failed" }),
    ]
    function has(html: string) {
      return [waiting, failed, strange].map((id) => html.includes(`href="/webhooks/${id}"`))
    }
    expect(has(await read("/webhooks"))).toEqual([true, true, false])
    expect(has(await read("/webhooks?status=failed&job_id="))).toEqual([false, true, false])
    expect(has(await read(`/webhooks?job_id=${jobId}`))).toEqual([true, false, false])
    expect(await read("/webhooks?status=delivered")).toContain("No delivery matches the filter")
  })

  it("shows the fault of a filter beside it", async () => {
    const html = await read("/webhooks?job_id=%22%3E%3Cscript%3E")
    expect(html).toContain("expected the id of a job")
    expect(html).toContain('aria-invalid="true"')
    expect(html).not.toContain("<script>")
  })

  it("has twenty rows, and a link to older ones that keeps the filters", async () => {
    for (let count = 0; count < 21; count += 1) await makeDelivery({ state: "failed" })
    const html = await read("/webhooks?status=failed")
    expect(html.match(/href="\/webhooks\/[\da-f-]{36}"/g)).toHaveLength(20)
    const [, next = ""] = /href="(\/webhooks\?[^"]+)" rel="next"/.exec(html) ?? []
    expect(next).toContain("status=failed")
    const older = await read(next.replaceAll("&amp;", "&"))
    expect(older.match(/href="\/webhooks\/[\da-f-]{36}"/g)).toHaveLength(1)
  })
})

describe("the signing secret", () => {
  it("is only in the response to a request for it", async () => {
    expect(await read("/webhooks")).not.toContain(await secret())
    const shown = await person.submit("/webhooks/secret")
    expect(shown.headers.get("cache-control")).toBe("no-store")
    expect(await shown.text()).toContain(`data-copy="${await secret()}"`)
  })

  it("is rotated, and the page says until when the previous secret is valid", async () => {
    const before = await secret()
    expect(await read("/webhooks")).not.toContain("is valid until")
    const answer = await person.submit("/webhooks/secret/rotate")
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/webhooks"])
    expect(await secret()).not.toBe(before)
    const html = await read("/webhooks")
    expect(html).toContain("A new secret signs from now on")
    const [, until = ""] = /is valid until <time datetime="([^"]+)"/.exec(html) ?? []
    const hours = (Date.parse(until) - Date.now()) / HOUR_MS
    expect(hours).toBeGreaterThan(23.9)
    expect(hours).toBeLessThanOrEqual(24)
  })

  it("is not rotated by a form of another origin", async () => {
    const before = await secret()
    const init = { method: "POST", headers: { origin: "https://evil.example" } }
    const body = new URLSearchParams()
    expect((await person.visit("/webhooks/secret/rotate", { ...init, body })).status).toBe(403)
    expect(await secret()).toBe(before)
  })
})

describe("a test event", () => {
  it("is sent to a URL and listed as a delivery", async () => {
    const url = "https://receiver.example/hook"
    const answer = await person.submit("/webhooks/test", { url: ` ${url} ` })
    expect(answer.status).toBe(303)
    const html = await read(answer.headers.get("location") ?? "")
    expect(html).toContain("The test event is being sent.")
    expect(html).toContain("webhook.test")
    expect(html).toContain(url)
  })

  it("is refused with the fault beside the field, which keeps its value", async () => {
    const answer = await person.submit("/webhooks/test", { url: "http://10.0.0.1/hook" })
    expect(answer.status).toBe(422)
    const html = await answer.text()
    expect(html).toContain("expected a public host")
    expect(html).toContain('value="http://10.0.0.1/hook"')
  })
})

describe("the page of a delivery", () => {
  it("has every try with its response, as text", async () => {
    const jobId = newId()
    const id = await makeDelivery({ jobId, nextTryAt: 0 })
    await makeTry(id, { answer: "<b>down</b>", error: "it answered 503" })
    await makeTry(id, { answer: "line\n".repeat(40), error: null })
    const html = await read(`/webhooks/${id}`)
    expect(html).toContain(`href="/jobs/${jobId}"`)
    expect(html).toContain("it answered 503")
    expect(html).toContain("&lt;b&gt;down&lt;/b&gt;")
    expect(html).toContain("Its first 200 characters")
    expect(html).toContain("1.2 s")
  })

  it("replays it", async () => {
    const id = await makeDelivery({ state: "failed" })
    const answer = await person.submit(`/webhooks/${id}/replay`)
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `/webhooks/${id}`])
    const row = env.DB.prepare("select next_try_at from deliveries where id = ?").bind(id)
    expect(Number(await row.first("next_try_at"))).toBeLessThan(Date.now() + HOUR_MS / 2)
  })

  it("returns 404 for another account's delivery, which cannot be replayed", async () => {
    const id = await makeDelivery({ state: "failed" }, (await makeSignedInUser()).accountId)
    expect((await person.visit(`/webhooks/${id}`)).status).toBe(404)
    expect((await person.submit(`/webhooks/${id}/replay`)).status).toBe(404)
    const row = env.DB.prepare("select state from deliveries where id = ?").bind(id)
    expect(await row.first("state")).toBe("failed")
    expect((await person.visit("/webhooks/nothing")).status).toBe(404)
  })
})
