import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { fetchOperatorRoute, makeCaller, uploadTestFile } from "../../../support/caller.ts"
import { makeSignedInUser } from "../../../support/accounts/signed-in.ts"

type Account = {
  id: string
  name: string
  suspended_at: string | null
  users: { email: string; is_operator: boolean }[]
}

type Page = { accounts: Account[]; next_before: string | null }

async function list(query: Record<string, string> = {}): Promise<Page> {
  const answer = await fetchOperatorRoute(`/accounts?${new URLSearchParams(query).toString()}`)
  expect(answer.status).toBe(200)
  return await answer.json<Page>()
}

async function idOf(name: string): Promise<string> {
  return (await list({ name })).accounts[0]?.id ?? ""
}

async function act(id: string, action: "suspend" | "resume"): Promise<Response> {
  return await fetchOperatorRoute(`/accounts/${id}/${action}`, { method: "POST" })
}

const COMMAND = {
  ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
  input_files: {},
  output_files: { out_1: "out.mp4" },
}

describe("GET /operator/accounts", () => {
  it("lists accounts newest first, page by page", async () => {
    for (const name of ["page a", "page b", "page c"]) await makeCaller(name)
    const first = await list({ search: "page ", limit: "2" })
    expect(first.accounts.map(({ name }) => name)).toEqual(["page c", "page b"])
    const second = await list({ search: "page ", limit: "2", before: first.next_before ?? "" })
    expect(second.accounts.map(({ name }) => name)).toEqual(["page a"])
    expect(second.next_before).toBeNull()
  })

  it("finds accounts by a part of their name or email address, ignoring case", async () => {
    await makeCaller("Searched 100% Account")
    const { email } = await makeSignedInUser({ email: "some.body@where.test" })
    expect((await list({ search: "searched 100%" })).accounts).toHaveLength(1)
    expect((await list({ search: "searched 1_0" })).accounts).toHaveLength(0)
    const byEmail = await list({ search: "SOME.BODY@" })
    expect(byEmail.accounts).toMatchObject([{ users: [{ email, is_operator: false }] }])
  })

  it("shows the usage of an account", async () => {
    const caller = await makeCaller("busy account")
    await uploadTestFile(caller, "clip.mp4", "seven b")
    expect((await caller.post("/commands", COMMAND)).status).toBe(202)
    const account = (await list({ name: "busy account" })).accounts[0]
    expect(account).toMatchObject({
      plan: "trial",
      keys: 1,
      storage_bytes: 7,
      waiting_jobs: 2,
      running_jobs: 0,
      suspended_at: null,
    })
    const one = await fetchOperatorRoute(`/accounts/${account?.id}`)
    expect(await one.json()).toEqual(account)
  })

  it("refuses unknown parameters", async () => {
    expect((await fetchOperatorRoute("/accounts?limit=0")).status).toBe(422)
    expect((await fetchOperatorRoute("/accounts?plan=paid")).status).toBe(422)
    expect((await fetchOperatorRoute(`/accounts/${crypto.randomUUID()}`)).status).toBe(404)
  })
})

describe("a suspended account", () => {
  it("is refused, for its keys and its user, until it is resumed", async () => {
    const caller = await makeCaller("suspended")
    expect((await caller.call("/files")).status).toBe(200)
    const id = await idOf("suspended")
    const suspended = await (await act(id, "suspend")).json<Account>()
    expect(suspended.suspended_at).not.toBeNull()
    const refused = await caller.post("/commands", COMMAND)
    expect([refused.status, (await refused.json<{ code_name: string }>()).code_name]).toEqual([
      403,
      "account_suspended",
    ])
    // A second suspension keeps the time of the first.
    expect(await (await act(id, "suspend")).json()).toEqual(suspended)
    expect(await (await act(id, "resume")).json()).toMatchObject({ suspended_at: null })
    expect((await caller.call("/files")).status).toBe(200)
  })

  it("is refused within a second if its limiter was not notified", async () => {
    const { call } = await makeCaller("suspended unheard")
    expect((await call("/files")).status).toBe(200)
    await env.DB.prepare(
      "update accounts set suspended_at = 1 where name = 'suspended unheard'",
    ).run()
    await expect.poll(async () => (await call("/files")).status).toBe(403)
  })

  it("refuses the user of the dashboard, too", async () => {
    const { visit, accountId } = await makeSignedInUser()
    expect((await visit("/v1/files")).status).toBe(200)
    await act(accountId, "suspend")
    expect((await visit("/v1/files")).status).toBe(403)
  })

  it("continues its accepted jobs and ends its event streams", async () => {
    const caller = await makeCaller("streaming")
    const made = await caller.post("/commands", COMMAND)
    const { command_id: jobId } = await made.json<{ command_id: string }>()
    const stream = await caller.call(`/jobs/${jobId}/events`)
    expect(stream.status).toBe(200)
    await act(await idOf("streaming"), "suspend")
    expect(await stream.text()).toContain("retry:")
    const state = env.DB.prepare("select state from jobs where id = ?").bind(jobId)
    expect(await state.first("state")).toBe("waiting")
  })

  it("gets a 404 for an unknown account", async () => {
    for (const action of ["suspend", "resume"] as const) {
      expect((await act(crypto.randomUUID(), action)).status).toBe(404)
    }
  })
})

describe("DELETE /operator/accounts/{id}", () => {
  it("deletes an account, which disappears from the list", async () => {
    const { call } = await makeCaller("to be deleted")
    const id = await idOf("to be deleted")
    expect((await fetchOperatorRoute(`/accounts/${id}`, { method: "DELETE" })).status).toBe(200)
    expect((await call("/files")).status).toBe(401)
    expect((await list({ search: "to be deleted" })).accounts).toEqual([])
    expect((await act(id, "resume")).status).toBe(404)
    expect(
      (await fetchOperatorRoute(`/accounts/${crypto.randomUUID()}`, { method: "DELETE" })).status,
    ).toBe(404)
  })
})
