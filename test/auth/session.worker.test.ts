import { describe, expect, it } from "vitest"
import { findSignedIn } from "../../src/auth/session.ts"
import { signIn } from "../support/signed-in.ts"
import { watchedEnv } from "../support/watched-database.ts"

const ORIGIN = "https://lathe.test"

describe("who is signed in", () => {
  it("is found by two questions to the database: the session with its user, and the account", async () => {
    const { jar } = await signIn()
    const { watched, asked } = watchedEnv()
    const found = await findSignedIn(watched, ORIGIN, headersOf(jar))
    expect(found?.user.isOperator).toBe(false)
    expect(asked.map(({ sql }) => /from "(\w+)"/.exec(sql)?.[1])).toEqual(["sessions", "accounts"])
  })

  it("is nobody with a cookie that was never given", async () => {
    const { jar } = await signIn()
    const forged = new Map([...jar].map(([name, value]) => [name, value.replace(/^./, "0")]))
    const { watched } = watchedEnv()
    expect(await findSignedIn(watched, ORIGIN, headersOf(forged))).toBeNull()
  })
})

function headersOf(jar: ReadonlyMap<string, string>): Headers {
  return new Headers({ cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") })
}
