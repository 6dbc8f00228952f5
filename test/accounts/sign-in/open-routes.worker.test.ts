import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { getBetterAuth } from "../../../src/accounts/sign-in/auth.ts"
import { AUTH_ROUTES } from "../../../src/accounts/sign-in/limits.ts"
import { makePerson, makeService, ORIGIN } from "./visitor.ts"

const service = makeService({ SIGN_UP: "open" })

const EMAIL = "nobody@people.test"
const PERSON = { email: EMAIL, password: "a guess of some letters" }
const BEGIN = { provider: "github", callbackURL: "/", errorCallbackURL: "/sign-in" }

const endpoint = z.object({
  path: z.string().optional(),
  options: z.object({ method: z.union([z.string(), z.array(z.string())]).optional() }),
})

/** Method and path of every route of better-auth. */
const ROUTES = Object.values(getBetterAuth(service.env, ORIGIN).api).flatMap((each) => {
  const { path, options } = endpoint.parse(Object.assign({}, each))
  if (path === undefined) return []
  const methods = [options.method ?? "GET"].flat()
  return methods.map((method) => [method, path.replace(":id", "github")] as const)
})

const OPEN = AUTH_ROUTES.map(
  ({ method, path }) => `${method} ${path.replace(":provider", "github")}`,
)
const CLOSED = ROUTES.filter(([method, path]) => !OPEN.includes(`${method} ${path}`))

describe("routes of sign-in", () => {
  let person: Awaited<ReturnType<typeof makePerson>>

  beforeAll(async () => {
    person = await makePerson(service)
  })

  it("are exactly the listed ones", () => {
    expect(ROUTES.map(([method, path]) => `${method} ${path}`)).toEqual(
      expect.arrayContaining(OPEN),
    )
    expect(CLOSED.length).toBeGreaterThan(15)
    expect(CLOSED).toContainEqual(["GET", "/verify-email"])
  })

  it.each(CLOSED)("are closed if no page uses them: %s %s", async (method, path) => {
    const init = method === "GET" ? {} : { body: "{}" }
    const headers = { origin: ORIGIN, "content-type": "application/json" }
    const url = `/api/auth${path.replace(":token", "x")}?token=x&callbackURL=/`
    const answer = await person.visit(url, { method, headers, ...init })
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([404, []])
  })

  it("change nothing by GET except sign-in by another service", () => {
    expect(OPEN.filter((route) => !route.startsWith("POST "))).toEqual(["GET /callback/github"])
  })

  it.each([
    ["data of a service", "/sign-in/social", { ...BEGIN, additionalData: { a: "b" } }],
    ["a page without end", "/sign-in/social", { ...BEGIN, callbackURL: `/${"a".repeat(5000)}` }],
    ["a page after sign-in", "/sign-in/email", { ...PERSON, callbackURL: "/elsewhere" }],
    ["a page for a reset", "/request-password-reset", { email: EMAIL, redirectTo: "/elsewhere" }],
    ["an email without end", "/change-email", { newEmail: `${"a".repeat(400)}@people.test` }],
  ])("accept no field that no page sends: %s (%s)", async (_, path, fields) => {
    const answer = await person.post(path, fields)
    expect(answer.status).toBe(400)
  })
})
