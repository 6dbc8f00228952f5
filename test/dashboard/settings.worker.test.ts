import { describe, expect, test } from "vitest"
import { describeDevice } from "../../src/dashboard/pages/settings/cards.tsx"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"

const NEW_PASSWORD = "another password, as long"

describe("the password", () => {
  test("is changed by a user who knows it, and other sessions end", async () => {
    const person = await makeSignedInUser()
    const elsewhere = await person.signInElsewhere()
    const fields = { current: person.password, next: NEW_PASSWORD }
    const answer = await person.submit("/settings/password", fields)
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/settings"])
    expect(await (await person.visit("/settings")).text()).toContain("The password is changed.")
    expect((await elsewhere.visit("/settings")).status).toBe(303)
  })

  test("stays unchanged for a user who does not know it", async () => {
    const person = await makeSignedInUser()
    const fields = { current: "not the password at all", next: NEW_PASSWORD }
    const answer = await person.submit("/settings/password", fields)
    expect(answer.status).toBe(422)
    expect(await answer.text()).toMatch(/name="current"[^>]*aria-invalid="true"/)
  })

  test("cannot be a short one", async () => {
    const person = await makeSignedInUser()
    const answer = await person.submit("/settings/password", {
      current: person.password,
      next: "short",
    })
    expect(answer.status).toBe(422)
    expect(await answer.text()).toMatch(/name="next"[^>]*aria-invalid="true"/)
  })
})

describe("sessions", () => {
  test("are listed without their tokens, and can be ended one by one", async () => {
    const person = await makeSignedInUser()
    const elsewhere = await person.signInElsewhere()
    const html = await (await person.visit("/settings")).text()
    for (const value of [...person.jar.values(), ...elsewhere.jar.values()]) {
      expect(html).not.toContain(decodeURIComponent(value).split(".")[0])
    }
    const [, path = ""] = /action="(\/settings\/sessions\/[\w-]+\/sign-out)"/.exec(html) ?? []
    expect((await person.submit(path)).status).toBe(303)
    expect((await elsewhere.visit("/settings")).headers.get("location")).toMatch(/^\/sign-in/)
    expect((await person.visit("/settings")).status).toBe(200)
  })

  test("can all be ended except for the current one", async () => {
    const person = await makeSignedInUser()
    const elsewhere = await person.signInElsewhere()
    expect((await person.submit("/settings/sessions/sign-out-others")).status).toBe(303)
    expect((await elsewhere.visit("/settings")).status).toBe(303)
    expect((await person.visit("/settings")).status).toBe(200)
  })

  test("of other users cannot be ended", async () => {
    const [person, other] = [await makeSignedInUser(), await makeSignedInUser()]
    await other.signInElsewhere()
    const html = await (await other.visit("/settings")).text()
    const [, path = ""] = /action="(\/settings\/sessions\/[\w-]+\/sign-out)"/.exec(html) ?? []
    expect((await person.submit(path)).status).toBe(404)
  })
})

test("the account is not deleted for another email or password", async () => {
  const person = await makeSignedInUser()
  const { email, password } = person
  const wrongEmail = await person.submit("/settings/delete", { email: "x@y.test", password })
  expect(wrongEmail.status).toBe(422)
  expect(await wrongEmail.text()).toContain("The email address is not that of the account.")
  const wrongPassword = await person.submit("/settings/delete", { email, password: "wrong one!" })
  expect(wrongPassword.status).toBe(422)
  expect((await person.visit("/settings")).status).toBe(200)
})

test.each([
  ["Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "Firefox on Linux"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0",
    "Edge on Windows",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Mobile/15E148 Safari/604.1",
    "Safari on iPhone",
  ],
  ["", "Unknown browser"],
])("a device is named by its User-Agent: %s", (userAgent, name) => {
  expect(describeDevice(userAgent)).toBe(name)
})
