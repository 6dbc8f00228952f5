import { expect, it } from "vitest"
import { passwordHasher } from "../../../src/accounts/sign-in/passwords.ts"

it("a hashed password verifies, and no other one does", async () => {
  const hash = await passwordHasher.hash("a password of some letters")
  const [right, wrong] = await Promise.all([
    passwordHasher.verify({ hash, password: "a password of some letters" }),
    passwordHasher.verify({ hash, password: "another of some letters" }),
  ])
  expect([right, wrong]).toEqual([true, false])
})

it("many simultaneous checks that would block callers for long are refused with 429", async () => {
  const asked = Array.from({ length: 300 }, async () => await passwordHasher.hash("one of many"))
  const refusals = asked.map(async (each) => {
    const error: unknown = await each.then(() => null, same)
    if (error === null) throw new Error("it was hashed")
    return error
  })
  const refusal = await Promise.any(refusals)
  expect(refusal).toMatchObject({ statusCode: 429, body: { code: "TOO_MANY" } })
})

function same(error: unknown): unknown {
  return error
}
