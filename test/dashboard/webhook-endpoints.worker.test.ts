import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { openAccountDatabases, runBatch } from "../../src/db/database.ts"
import {
  disableGoneEndpointStatement,
  listWebhookEndpoints,
} from "../../src/db/webhook-endpoints.ts"
import { createEndpoint } from "../../src/webhooks/endpoints.ts"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"
import type { SignedInCaller } from "../support/accounts/signed-in.ts"

const URL = "https://receiver.example/events"

let person: SignedInCaller

beforeEach(async () => {
  person = await makeSignedInUser()
})

async function read(path: string): Promise<string> {
  return await (await person.visit(path)).text()
}

function own() {
  return openAccountDatabases(env, person.accountId)
}

/** Makes an endpoint of the account. */
async function make(description = ""): Promise<{ id: string; secret: string }> {
  const given = { url: URL, events: ["*"], description, enabled: true }
  const made = await createEndpoint(own(), given)
  if (!made) throw new Error("there is no room for an endpoint")
  return made
}

describe("the endpoints on the page of webhooks", () => {
  it("say how to get a first one where there is none", async () => {
    const html = await read("/webhooks")
    expect(html).toContain("There is no endpoint yet")
    expect(html).toContain('href="/webhooks/endpoints/new"')
  })

  it("are added by a form, whose answer alone has the secret", async () => {
    const fields = { url: ` ${URL} `, events: "command.*, *.failed", description: "CI <b>" }
    const made = await person.submit("/webhooks/endpoints", fields)
    expect([made.status, made.headers.get("cache-control")]).toEqual([201, "no-store"])
    const [stored] = await listWebhookEndpoints(own())
    expect(stored).toMatchObject({ url: URL, events: ["command.*", "*.failed"], enabled: true })
    expect(await made.text()).toContain(`data-copy="${stored?.secret}"`)
    const html = await read("/webhooks")
    expect(html).not.toContain(stored?.secret)
    expect(html).toContain("command.*, *.failed")
    expect(html).toContain("CI &lt;b&gt;")
    const shown = await person.submit(`/webhooks/endpoints/${stored?.id}/secret`)
    expect(await shown.text()).toContain(`data-copy="${stored?.secret}"`)
  })

  it.each([
    ["url", { url: "http://10.0.0.1/", events: "*", description: "" }, "expected a public host"],
    ["events", { url: URL, events: "command.done", description: "" }, "expected `*`, or a type"],
    ["description", { url: URL, events: "*", description: "x".repeat(201) }, "at most 200"],
  ])("are refused with what is wrong at the field %s", async (name, fields, message) => {
    const answer = await person.submit("/webhooks/endpoints", fields)
    expect(answer.status).toBe(422)
    const html = await answer.text()
    expect(html).toContain(message)
    expect(html).toMatch(new RegExp(`<input[^>]*name="${name}"[^>]*aria-invalid="true"`))
    expect(await listWebhookEndpoints(own())).toEqual([])
  })

  it("are turned off and on, tested and deleted", async () => {
    const { id } = await make()
    const path = `/webhooks/endpoints/${id}`
    expect((await person.submit(`${path}/disable`)).headers.get("location")).toBe("/webhooks")
    expect((await listWebhookEndpoints(own()))[0]?.enabled).toBe(false)
    expect(await read("/webhooks")).toContain("Turn on")
    await person.submit(`${path}/enable`)
    expect((await listWebhookEndpoints(own()))[0]?.enabled).toBe(true)
    const tested = await person.submit(`${path}/test`)
    expect(await read(tested.headers.get("location") ?? "")).toContain("An endpoint of the account")
    await person.submit(`${path}/delete`)
    expect(await listWebhookEndpoints(own())).toEqual([])
    expect((await person.submit(`${path}/delete`)).status).toBe(404)
  })

  it("say which a 410 of the receiver disabled", async () => {
    const { id } = await make()
    await runBatch(own().sql, [
      disableGoneEndpointStatement(own(), { endpointId: id, url: URL }, Date.now()),
    ])
    expect(await read("/webhooks")).toContain("since the receiver answered 410")
  })

  it("are those of the own account alone", async () => {
    const { id } = await make("mine")
    person = await makeSignedInUser()
    expect(await read("/webhooks")).not.toContain("mine")
    for (const verb of ["disable", "delete", "test", "secret"]) {
      const answer = await person.submit(`/webhooks/endpoints/${id}/${verb}`)
      expect([verb, answer.status]).toEqual([verb, 404])
    }
  })
})
