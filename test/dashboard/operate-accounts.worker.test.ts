import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { fetchWorker, makeCaller } from "../support/caller.ts"
import { GOLD_PLAN_LIMITS } from "../support/accounts/own-plan.ts"
import { putPlan } from "../support/accounts/operator-calls.ts"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"
import type { SignedInCaller } from "../support/accounts/signed-in.ts"

let operator: SignedInCaller

beforeAll(async () => {
  operator = await makeSignedInUser({ isOperator: true, email: "operator@here.test" })
})

async function accountOf(name: string): Promise<string> {
  const id = await env.DB.prepare("select id from accounts where name = ?").bind(name).first("id")
  return String(id)
}

async function read(path: string): Promise<string> {
  const answer = await operator.visit(path)
  expect(answer.status).toBe(200)
  return await answer.text()
}

/** The message on the page that a form leads to. */
async function follow(answer: Response): Promise<string> {
  expect(answer.status).toBe(303)
  return await read(answer.headers.get("location") ?? "")
}

const PAGES = [
  ["GET", "/operate/accounts"],
  ["GET", "/operate/accounts/x"],
  ["POST", "/operate/accounts/x/plan"],
  ["POST", "/operate/accounts/x/suspend"],
  ["POST", "/operate/accounts/x/resume"],
  ["POST", "/operate/accounts/x/delete"],
  ["POST", "/operate/invitations"],
  ["POST", "/operate/invitations/x/withdraw"],
  ["GET", "/operate/plans"],
  ["GET", "/operate/plans/new"],
  ["POST", "/operate/plans"],
  ["GET", "/operate/plans/x/change"],
  ["POST", "/operate/plans/x/change"],
  ["POST", "/operate/plans/x/delete"],
] as const

describe("the operator's pages", () => {
  it("return 404 to other users", async () => {
    const person = await makeSignedInUser()
    for (const [method, path] of PAGES) {
      const answer = method === "GET" ? await person.visit(path) : await person.submit(path)
      expect([method, path, answer.status]).toEqual([method, path, 404])
    }
  })

  it("refuse a suspended operator, who cannot resume the own account", async () => {
    const other = await makeSignedInUser({ isOperator: true })
    const account = `/operate/accounts/${other.accountId}`
    await follow(await operator.submit(`${account}/suspend`))
    for (const [method, path] of PAGES) {
      const answer = method === "GET" ? await other.visit(path) : await other.submit(path)
      expect([method, path, answer.status]).toEqual([method, path, 403])
    }
    expect((await other.submit(`${account}/resume`)).status).toBe(403)
    await follow(await operator.submit(`${account}/resume`))
    expect((await other.visit("/operate/accounts")).status).toBe(200)
  })

  it("redirect a visitor to sign-in", async () => {
    const answer = await fetchWorker("/operate/accounts")
    expect([answer.status, answer.headers.get("location")]).toEqual([
      303,
      "/sign-in?next=%2Foperate%2Faccounts",
    ])
  })
})

describe("/operate/accounts", () => {
  it("lists accounts and finds them", async () => {
    await makeCaller("Shown <b>one</b>")
    const all = await read("/operate/accounts")
    expect(all).toContain("Shown &lt;b&gt;one&lt;/b&gt;")
    expect(all).toContain("operator@here.test")
    const found = await read("/operate/accounts?search=shown+%3Cb")
    expect(found).toContain("Shown &lt;b&gt;one&lt;/b&gt;")
    expect(await read("/operate/accounts?search=nobody+at+all")).toContain("No account matches")
  })

  it("links to the next page", async () => {
    for (let made = 0; made < 51; made += 1) await makeCaller(`many of them ${made}`)
    const first = await read("/operate/accounts?search=many+of+them")
    const next = /href="(\/operate\/accounts\?[^"]+)" rel="next"/.exec(first)?.[1] ?? ""
    const second = await read(next.replaceAll("&amp;", "&"))
    expect(first).not.toContain("many of them 0<")
    expect(second).toContain("many of them 0<")
    expect(second).not.toContain('rel="next"')
  })

  it("invites by email and withdraws an invitation", async () => {
    const wrong = await operator.submit("/operate/invitations", { email: "nobody", plan: "trial" })
    expect(wrong.status).toBe(422)
    expect(await wrong.text()).toContain("expected an email address")
    const unknown = await operator.submit("/operate/invitations", { email: "a@b.test", plan: "no" })
    expect(unknown.status).toBe(422)
    const made = await operator.submit("/operate/invitations", {
      email: "new@person.test",
      plan: "paid",
    })
    const shown = await made.text()
    expect(shown).toMatch(/https:\/\/lathe\.test\/sign-up\?invitation=\w+/)
    // Nothing sends mails here.
    expect(shown).toContain("the mail could not be sent")
    const page = await read("/operate/accounts")
    expect(page).toContain("new@person.test")
    expect(page).not.toContain("/sign-up?invitation=")
    const withdraw = /action="(\/operate\/invitations\/[^"]+\/withdraw)"/.exec(page)?.[1] ?? ""
    expect(await follow(await operator.submit(withdraw))).toContain("The invitation is withdrawn")
    expect(await read("/operate/accounts")).not.toContain("new@person.test")
    expect((await operator.submit(withdraw)).status).toBe(404)
    const taken = await operator.submit("/operate/invitations", {
      email: "operator@here.test",
      plan: "paid",
    })
    expect(await taken.text()).toContain("another user has this email address")
  })
})

describe("/operate/accounts/{id}", () => {
  it("changes the plan of an account, also to an operator's plan", async () => {
    const { call } = await makeCaller("given a plan")
    await putPlan("gold-page", GOLD_PLAN_LIMITS)
    const path = `/operate/accounts/${await accountOf("given a plan")}`
    expect(await read(path)).toContain("No usage yet")
    const message = await follow(await operator.submit(`${path}/plan`, { plan: "gold-page" }))
    expect(message).toContain("The account has the plan gold-page.")
    expect((await call("/files")).headers.get("ratelimit-policy")).toContain("q=100;")
    expect((await operator.submit(`${path}/plan`, { plan: "none" })).status).toBe(422)
  })

  it("suspends and resumes an account", async () => {
    const { call } = await makeCaller("suspended by page")
    const path = `/operate/accounts/${await accountOf("suspended by page")}`
    expect(await follow(await operator.submit(`${path}/suspend`))).toContain("is suspended")
    expect((await call("/files")).status).toBe(403)
    expect(await follow(await operator.submit(`${path}/resume`))).toContain("is lifted")
    expect((await call("/files")).status).toBe(200)
  })

  it("deletes an account only after its name is typed", async () => {
    const { call } = await makeCaller("deleted by page")
    const path = `/operate/accounts/${await accountOf("deleted by page")}`
    const refused = await operator.submit(`${path}/delete`, { name: "deleted" })
    expect(refused.status).toBe(422)
    expect(await refused.text()).toContain("expected the name of the account")
    expect((await call("/files")).status).toBe(200)
    const done = await operator.submit(`${path}/delete`, { name: "deleted by page" })
    expect(await follow(done)).toContain("deleted by page is being deleted.")
    expect((await call("/files")).status).toBe(401)
    expect((await operator.visit(path)).status).toBe(404)
  })

  it("neither suspends nor deletes the operator's own account", async () => {
    const path = `/operate/accounts/${operator.accountId}`
    const page = await read(path)
    expect(page).not.toContain("Delete the account")
    for (const action of ["suspend", "delete"]) {
      const name = `account-${operator.accountId}`
      const answer = await operator.submit(`${path}/${action}`, { name })
      expect(await follow(answer)).toContain("The account is your own")
    }
    expect(await read(path)).toContain("active")
  })
})
