import { eq } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { mailedLinkTokens } from "../../../src/db/schema/users.ts"
import { openDirectory } from "../../../src/db/database.ts"
import { makeService, ORIGIN } from "./visitor.ts"

const SIGN_IN_PROVIDERS = JSON.stringify({
  github: { clientId: "github-client", clientSecret: "github-secret" },
})

const service = makeService({ SIGN_UP: "open", SIGN_IN_PROVIDERS })

describe("sign-in by another service", () => {
  it("is offered by the page for the services of the settings", async () => {
    const page = await (await service.visitor().visit("/sign-in?next=/keys")).text()
    expect(page).toContain('href="/sign-in/with/github?next=%2Fkeys"')
    expect(page).not.toContain("/sign-in/with/google")
  })

  it("leads to the service with a return address and no secret", async () => {
    const visitor = service.visitor()
    const answer = await visitor.visit("/sign-in/with/github?next=/keys")
    expect(answer.status).toBe(303)
    const url = new URL(answer.headers.get("location") ?? "")
    expect(url.origin + url.pathname).toBe("https://github.com/login/oauth/authorize")
    expect(url.searchParams.get("redirect_uri")).toBe(`${ORIGIN}/api/auth/callback/github`)
    expect(url.searchParams.get("client_id")).toBe("github-client")
    expect(url.searchParams.get("state")?.length).toBeGreaterThan(20)
    expect(url.href).not.toContain("github-secret")
    expect(visitor.jar.size).toBeGreaterThan(0)
  })

  it("begins only on a page of this service, and for services that are set", async () => {
    const visitor = service.visitor()
    const headers = { "sec-fetch-site": "cross-site" }
    const foreign = await visitor.visit("/sign-in/with/github", { headers })
    expect(foreign.headers.get("location")).toBe("/sign-in")
    const unknown = await visitor.visit("/sign-in/with/google")
    expect(unknown.headers.get("location")).toBe("/sign-in")
  })

  it("ends at the form with a message if the other service, or the state, is wrong", async () => {
    const visitor = service.visitor()
    const begun = await visitor.visit("/sign-in/with/github")
    const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state") ?? ""
    const callback = "/api/auth/callback/github"
    const cases = [
      [visitor, `${callback}?error=access_denied&state=${state}`, "You did not allow the sign-in"],
      [visitor, `${callback}?code=x&state=guessed`, "took too long"],
      [visitor, callback, "did not answer correctly"],
    ] as const
    for (const [who, path, sentence] of cases) {
      const answer = await who.visit(path)
      const location = new URL(answer.headers.get("location") ?? "", ORIGIN)
      expect(location.origin + location.pathname).toBe(`${ORIGIN}/sign-in`)
      expect(await (await who.visit(location.pathname + location.search)).text()).toContain(
        sentence,
      )
    }
  })

  it("accepts the service's response only from the browser that began", async () => {
    const begun = await service.visitor().visit("/sign-in/with/github")
    const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state") ?? ""
    const answer = await service.visitor().visit(`/api/auth/callback/github?code=x&state=${state}`)
    const location = new URL(answer.headers.get("location") ?? "", ORIGIN)
    expect(location.searchParams.get("error")).toMatch(/state_mismatch|please_restart/)
  })

  it("does not show the text of an error", async () => {
    const text = "<b>call 555 for help</b>"
    const page = await service
      .visitor()
      .visit(`/sign-in?error=${encodeURIComponent(text)}&error_description=${text}`)
    expect(await page.text()).not.toContain("555")
  })

  it("keeps no state in plain text", async () => {
    const begun = await service.visitor().visit("/sign-in/with/github")
    const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state") ?? ""
    const rows = await openDirectory(service.env)
      .select()
      .from(mailedLinkTokens)
      .where(eq(mailedLinkTokens.identifier, state))
    expect(rows).toEqual([])
  })
})
