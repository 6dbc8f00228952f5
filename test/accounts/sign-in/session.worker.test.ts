import { describe, expect, it } from "vitest"
import { findSignedInUser } from "../../../src/accounts/sign-in/signed-in-user.ts"
import { makeSignedInUser } from "../../support/accounts/signed-in.ts"
import { makeRecordingEnv } from "../../support/db/watched-database.ts"

const ORIGIN = "https://lathe.test"

describe("the signed-in user", () => {
  it("is found by two queries: the session with its user, and the account", async () => {
    const { jar } = await makeSignedInUser()
    const { watched, asked } = makeRecordingEnv()
    const found = await findSignedInUser(watched, ORIGIN, headersOf(jar))
    expect(found?.user.isOperator).toBe(false)
    expect(asked.map(({ sql }) => /from "(\w+)"/.exec(sql)?.[1])).toEqual(["sessions", "accounts"])
  })

  it("is null for a forged cookie", async () => {
    const { jar } = await makeSignedInUser()
    const forged = new Map([...jar].map(([name, value]) => [name, forge(value)]))
    const { watched } = makeRecordingEnv()
    expect(await findSignedInUser(watched, ORIGIN, headersOf(forged))).toBeNull()
  })
})

/** Changes the first character of a token. */
function forge(value: string): string {
  return (value.startsWith("0") ? "1" : "0") + value.slice(1)
}

function headersOf(jar: ReadonlyMap<string, string>): Headers {
  return new Headers({ cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") })
}
