import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, test } from "vitest"
import { fetchWorker } from "../support/caller.ts"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"
import type { SignedInCaller } from "../support/accounts/signed-in.ts"

let person: SignedInCaller

beforeAll(async () => {
  person = await makeSignedInUser()
})

/** The key that an answer shows. */
function keyIn(html: string): string {
  return /lathe_\w{40}/.exec(html)?.[0] ?? ""
}

async function idOf(name: string): Promise<string> {
  const row = env.DB.prepare("select id from keys where name = ? order by id").bind(name)
  return (await row.first<string>("id")) ?? ""
}

async function statusWith(key: string): Promise<number> {
  return (await fetchWorker("/v1/jobs", { headers: { "x-api-key": key } })).status
}

test("an account without keys gets a hint to create one", async () => {
  const html = await (await person.visit("/keys")).text()
  expect(html).toContain("No keys yet")
  expect(html).toContain('href="/keys/new"')
})

test("a key is shown completely once, after its creation", async () => {
  const made = await person.submit("/keys", { name: "CI <b>", scope: "read", days: "30" })
  expect(made.status).toBe(201)
  expect(made.headers.get("cache-control")).toBe("no-store")
  const html = await made.text()
  const key = keyIn(html)
  expect(await statusWith(key)).toBe(200)
  expect(html).toContain(`data-copy="${key}"`)
  expect(html).not.toContain("<b>")
  const list = await (await person.visit("/keys")).text()
  expect(list).not.toContain(key)
  expect(list).toContain(key.slice(0, 8))
  expect(list).toContain("CI &lt;b&gt;")
  expect(list).toMatch(/in (?:29|30) days/)
})

describe("an invalid form", () => {
  test.each([
    ["a name that is too long", { name: "n".repeat(500), scope: "write", days: "" }, "name"],
    ["an unknown scope", { name: "fine", scope: "everything", days: "" }, "scope"],
    ["an invalid expiry", { name: "fine", scope: "write", days: "soon" }, "days"],
  ])("is shown again for %s, with the fault beside its field", async (_, fields, name) => {
    const answer = await person.submit("/keys", fields)
    expect(answer.status).toBe(422)
    const html = await answer.text()
    expect(html).toMatch(new RegExp(`<(?:input|select)[^>]*name="${name}"[^>]*aria-invalid="true"`))
    expect(html).toContain(`value="${fields.name}"`)
    expect(keyIn(html)).toBe("")
  })
})

test("a key is rotated: the new one is valid at once, the old one for the chosen overlap", async () => {
  const old = keyIn(await (await person.submit("/keys", { name: "turn", scope: "write" })).text())
  const id = await idOf("turn")
  expect(await (await person.visit(`/keys/${id}/rotate`)).text()).toContain("Rotate turn")
  const answer = await person.submit(`/keys/${id}/rotate`, { overlap_seconds: "3600" })
  const key = keyIn(await answer.text())
  expect([answer.status, await statusWith(key), await statusWith(old)]).toEqual([201, 200, 200])
  expect(await (await person.visit("/keys")).text()).toContain("replaced")
})

test("a key is revoked, with one confirmation", async () => {
  const key = keyIn(await (await person.submit("/keys", { name: "gone", scope: "write" })).text())
  const answer = await person.submit(`/keys/${await idOf("gone")}/revoke`)
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/keys"])
  const cookie = answer.headers
    .getSetCookie()
    .find((line) => line.startsWith("__Host-lathe_flash="))
  expect(cookie).toMatch(/HttpOnly/)
  expect(cookie).toMatch(/SameSite=Lax/)
  expect(cookie).toMatch(/Max-Age=60/)
  expect(await statusWith(key)).toBe(401)
  const said = "The key is revoked and refused from now on."
  expect(await (await person.visit("/keys")).text()).toContain(said)
  expect(await (await person.visit("/keys")).text()).not.toContain(said)
})

test("keys of another account are hidden, and cannot be rotated or revoked", async () => {
  const key = keyIn(await (await person.submit("/keys", { name: "mine", scope: "write" })).text())
  const id = await idOf("mine")
  const other = await makeSignedInUser()
  expect(await (await other.visit("/keys")).text()).not.toContain("mine")
  expect((await other.visit(`/keys/${id}/rotate`)).status).toBe(404)
  expect((await other.submit(`/keys/${id}/rotate`, { overlap_seconds: "0" })).status).toBe(404)
  expect((await other.submit(`/keys/${id}/revoke`)).status).toBe(404)
  expect(await statusWith(key)).toBe(200)
})
