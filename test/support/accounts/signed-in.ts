import { env } from "cloudflare:workers"
import { getBetterAuth } from "../../../src/accounts/sign-in/auth.ts"
import { newId } from "../../../src/platform/ids.ts"
import { makeWebhookSecret } from "../../../src/webhooks/signing.ts"
import { openDirectory } from "../../../src/db/database.ts"
import { accounts } from "../../../src/db/schema/accounts.ts"
import { credentials, users } from "../../../src/db/schema/users.ts"
import { fetchWorker } from "../caller.ts"
import { storeResponseCookies, setCookieHeader } from "./cookie-jar.ts"

const ORIGIN = "https://lathe.test"
const PASSWORD = "a password of twenty-six letters"

/** Signed-in user, whose requests send the cookies of the session as a browser does. */
export type SignedInCaller = Awaited<ReturnType<typeof makeSignedInUser>>

type Person = { email?: string; isOperator?: boolean; plan?: string }

/** Creates a user with an account, and signs the user in by password. */
export async function makeSignedInUser(person: Person = {}) {
  const made = await makeUser(person)
  return {
    ...made,
    password: PASSWORD,
    ...(await openSession(made.email)),
    /** Opens another session of the same user, as another browser would. */
    signInElsewhere: async () => await openSession(made.email),
  }
}

async function openSession(email: string) {
  const jar = new Map<string, string>()
  const answer = await getBetterAuth(env, ORIGIN).api.signInEmail({
    body: { email, password: PASSWORD },
    asResponse: true,
  })
  storeResponseCookies(jar, answer)
  /** Requests a path as a page of the dashboard does, and stores the cookies of the response. */
  async function visit(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    if (!headers.has("accept")) headers.set("accept", "text/html,application/xhtml+xml")
    setCookieHeader(jar, headers)
    const page = await fetchWorker(path, { ...init, headers })
    storeResponseCookies(jar, page)
    return page
  }
  return {
    jar,
    visit,
    /** Submits a form of a page of this origin. */
    submit: (path: string, fields: Record<string, string> | [string, string][] = {}) =>
      visit(path, {
        method: "POST",
        headers: { origin: ORIGIN },
        body: new URLSearchParams(fields),
      }),
  }
}

/** Creates a user with a password and an account of its own. */
async function makeUser({ email, isOperator = false, plan = "trial" }: Person) {
  const [id, accountId, now] = [newId(), newId(), new Date()]
  const address = email ?? `${id}@people.test`
  const moments = { createdAt: now, updatedAt: now }
  const { password } = await getBetterAuth(env, ORIGIN).$context
  const database = openDirectory(env)
  await database.batch([
    database.insert(accounts).values({
      id: accountId,
      name: `account-${accountId}`,
      plan,
      webhookSecret: makeWebhookSecret(),
      createdAt: now.getTime(),
    }),
    database.insert(users).values({
      id,
      accountId,
      name: "A person",
      email: address,
      emailVerified: true,
      isOperator,
      ...moments,
    }),
    database.insert(credentials).values({
      id: newId(),
      userId: id,
      providerId: "credential",
      accountId: id,
      password: await password.hash(PASSWORD),
      ...moments,
    }),
  ])
  return { userId: id, accountId, email: address }
}
