import { expect, it } from "vitest"
import { passwords } from "../../src/auth/passwords.ts"

it("a password that was hashed is known again, and no other one", async () => {
  const hash = await passwords.hash("a password of some letters")
  const [right, wrong] = await Promise.all([
    passwords.verify({ hash, password: "a password of some letters" }),
    passwords.verify({ hash, password: "another of some letters" }),
  ])
  expect([right, wrong]).toEqual([true, false])
})

it("so many at once that they would hold up callers for long are refused with 429", async () => {
  const asked = Array.from({ length: 300 }, async () => await passwords.hash("one of many"))
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
