import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { z } from "zod"
import { app } from "../../../src/app.ts"
import type { Env } from "../../../src/bindings/env.ts"
import type { SecretName, Settings } from "../../../src/bindings/settings.ts"
import { storeResponseCookies, setCookieHeader } from "../../support/accounts/cookie-jar.ts"
import { trackPendingStatements } from "../../support/db/wrapped-database.ts"

export const ORIGIN = "https://lathe.test"
export const PASSWORD = "a password of twenty-six letters"

const kept = z.object({ to: z.string(), subject: z.string(), text: z.string() })

export type KeptMail = z.infer<typeof kept>

/** Returns a service with other settings, and the mails that it sends. */
export function makeService(settings: Partial<Record<keyof Settings | SecretName, string>> = {}) {
  const mails: KeptMail[] = []
  const folder = {
    fetch: async (_url: string, init: { body: string }) => {
      mails.push(kept.parse(JSON.parse(init.body)))
      return new Response(null, { status: 204 })
    },
  }
  const { DB, settle } = trackPendingStatements(env.DB)
  const own = { ...settings, DB, MAILS: z.custom<Fetcher>().parse(folder) }
  const bindings = Object.assign({ ...env }, own) satisfies Env
  /** Sends a request, and waits for its work after the response. */
  async function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const context = createExecutionContext()
    const request = new Request(new URL(path, ORIGIN), { redirect: "manual", ...init })
    const answer = await app.fetch(request, bindings, context)
    await waitOnExecutionContext(context)
    await settle()
    return answer
  }
  return {
    env: bindings,
    mails,
    ask,
    /** Returns the path of the link in the newest mail to an address. */
    linkTo(email: string): string {
      const mail = mails.findLast(({ to }) => to === email)
      const link = /https:\/\/\S+/.exec(mail?.text ?? "")?.[0]
      if (link === undefined) throw new Error(`no mail to ${email} has a link`)
      return link.slice(ORIGIN.length)
    },
    /** Creates a visitor with a browser, and an address that no other visitor has. */
    visitor: () => makeVisitor(ask),
  }
}

export type Service = ReturnType<typeof makeService>

let visitors = 0

function makeVisitor(ask: (path: string, init?: RequestInit) => Promise<Response>) {
  visitors += 1
  const address = `198.51.${Math.floor(visitors / 250)}.${visitors % 250}`
  const jar = new Map<string, string>()
  async function visit(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set("cf-connecting-ip", address)
    if (!headers.has("accept")) headers.set("accept", "text/html")
    setCookieHeader(jar, headers)
    const answer = await ask(path, { ...init, headers })
    storeResponseCookies(jar, answer)
    return answer
  }
  /** Sends a form of a page. */
  async function submit(path: string, fields: Record<string, string>): Promise<Response> {
    const body = new URLSearchParams(fields)
    return await visit(path, { method: "POST", headers: { origin: ORIGIN }, body })
  }
  return {
    jar,
    visit,
    submit,
    /** Confirms an email by the path of its link, and the password of the sign-up. */
    confirm: async (link: string, password: string = PASSWORD) =>
      await submit("/verify-email", { token: tokenOf(link), password }),
    /** Sends a request to a route of sign-in. */
    post: (path: string, body: unknown) =>
      visit(`/api/auth${path}`, {
        method: "POST",
        headers: { origin: ORIGIN, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    /** Reports whether the page for sign-in redirects at once. */
    async isSignedIn(): Promise<boolean> {
      return (await visit("/sign-in")).status === 303
    },
  }
}

/** Returns the token of a mailed link, by the link's path. */
export function tokenOf(link: string): string {
  return new URL(link, ORIGIN).searchParams.get("token") ?? ""
}

let people = 0

/** Returns an unused email. */
export function newEmail(): string {
  people += 1
  return `person-${people}-${crypto.randomUUID().slice(0, 8)}@people.test`
}

/** Signs up a verified user with an unused email, by the pages. */
export async function makePerson(service: Service) {
  const email = newEmail()
  const visitor = service.visitor()
  await visitor.submit("/sign-up", { email, password: PASSWORD })
  await visitor.confirm(service.linkTo(email))
  return { email, ...visitor }
}
