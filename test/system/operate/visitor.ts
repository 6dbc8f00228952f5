import { requestOperatorAppointment } from "../../../scripts/keys/operator.ts"
import { storeResponseCookies, setCookieHeader } from "../../support/accounts/cookie-jar.ts"
import type { TestService } from "../service.ts"

/** Somebody with a browser: requests to the service with the cookies that it gave. */
export function makeVisitor(origin: string, headers: Record<string, string> = {}) {
  const jar = new Map<string, string>()
  async function visit(path: string, init: RequestInit = {}): Promise<Response> {
    const sent = new Headers({ accept: "text/html", ...headers })
    for (const [name, value] of new Headers(init.headers)) sent.set(name, value)
    setCookieHeader(jar, sent)
    const url = new URL(path, origin)
    const answer = await fetch(url, { redirect: "manual", ...init, headers: sent })
    storeResponseCookies(jar, answer)
    return answer
  }
  /** Sends a form of a page. */
  async function submit(path: string, fields: Record<string, string>): Promise<Response> {
    return await visit(path, {
      method: "POST",
      headers: { origin },
      body: new URLSearchParams(fields),
    })
  }
  return {
    visit,
    submit,
    /** Values of the cookies that it has. */
    cookies: () => [...jar.values()],
    /** Confirms an email by its link and the password of the sign-up. */
    confirm: async (link: string, password: string) =>
      await submit("/verify-email", {
        token: new URL(link).searchParams.get("token") ?? "",
        password,
      }),
    /** Whether the page for sign-in leads on at once. */
    async isSignedIn(): Promise<boolean> {
      return (await visit("/sign-in")).status === 303
    },
  }
}

/** An operator who set the password by the link, signed in; and the token of that link. */
export async function signInAsOperator(
  { origin, operator }: Pick<TestService, "origin" | "operator">,
  { email, password }: { email: string; password: string },
) {
  const link = new URL(await requestOperatorAppointment(operator, email))
  const token = link.searchParams.get("token") ?? ""
  const visitor = makeVisitor(origin)
  await visitor.visit(link.pathname + link.search)
  await visitor.submit("/reset-password", { token, password })
  await visitor.submit("/sign-in", { email, password })
  return { visitor, token }
}
