import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { app } from "../../../src/app.ts"
import type { Env } from "../../../src/bindings/env.ts"
import { wrapStatements } from "../../support/db/wrapped-database.ts"
import { makePerson, makeService, newEmail, ORIGIN, PASSWORD } from "./visitor.ts"

const ANSWER_MS_MAX = 20_000

const service = makeService({ SIGN_UP: "open" })

/** Returns a service whose database holds statements about users until their release. */
function holdUsers() {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const DB = wrapStatements(env.DB, async (text, ask) => {
    if (text.includes('"users"')) {
      reached.resolve()
      await released.promise
    }
    return await ask()
  })
  const bindings = Object.assign({ ...service.env }, { DB }) satisfies Env
  return { bindings, reached: reached.promise, release: released.resolve }
}

let address = 0

/** Sends a request while lookups of users are held; null if the response waits for a lookup. */
async function askHeld(path: string, init: RequestInit) {
  const { bindings, reached, release } = holdUsers()
  address += 1
  const headers = new Headers({ origin: ORIGIN, "cf-connecting-ip": `203.0.113.${address}` })
  for (const [name, value] of new Headers(init.headers)) headers.set(name, value)
  const request = new Request(ORIGIN + path, {
    redirect: "manual",
    ...init,
    method: "POST",
    headers,
  })
  const asked = Promise.resolve(app.fetch(request, bindings, createExecutionContext()))
  const waited = reached.then(async () => await scheduler.wait(ANSWER_MS_MAX)).then(() => null)
  const answer = await Promise.race([asked, waited])
  release()
  return answer && { status: answer.status, body: await answer.text() }
}

const JSON_TYPE = { "content-type": "application/json" }

describe("a response about an email", () => {
  it.each([
    ["/sign-up/email", { password: PASSWORD }],
    ["/request-password-reset", {}],
    ["/send-verification-email", {}],
  ])("comes before the lookup of a user: %s", async (path, fields) => {
    const known = await makePerson(service)
    const answers = []
    for (const email of [known.email, newEmail()]) {
      const body = JSON.stringify({ email, ...fields })
      answers.push(await askHeld(`/api/auth${path}`, { headers: JSON_TYPE, body }))
    }
    expect(answers[0]).toEqual(answers[1])
    expect(
      z.object({ status: z.literal(true) }).parse(JSON.parse(answers[0]?.body ?? "")),
    ).toBeTruthy()
  })

  it.each([
    ["/sign-up", { password: PASSWORD }, "You already have an account at Lathe"],
    ["/forgot-password", {}, "Set a new password"],
  ])("comes first from the pages too, and its mail follows: %s", async (path, fields, subject) => {
    const { email } = await makePerson(service)
    const answer = await askHeld(path, { body: new URLSearchParams({ email, ...fields }) })
    expect(answer?.status).toBe(path === "/sign-up" ? 303 : 200)
    await expect.poll(() => service.mails.findLast(({ to }) => to === email)?.subject).toBe(subject)
  })
})
