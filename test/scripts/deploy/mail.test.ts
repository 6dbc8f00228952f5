import { expect, test } from "vitest"
import { findMailSettingWarnings } from "../../../scripts/deploy/mail.ts"

const nothing = { vars: {}, secrets: { given: {}, dropped: [] }, deployed: null }
const key = { given: { RESEND_API_KEY: "re_key" }, dropped: [] }
const deployed = {
  secretNames: ["RESEND_API_KEY"],
  databaseIds: [],
  hasAnalytics: true,
  vars: {},
  versionId: null,
}

test("closed sign-up needs no mail", () => {
  expect(findMailSettingWarnings(nothing)).toEqual([])
})

test.each(["open", "invitation"])(
  "sign-up that is %s is told where no mail can be sent",
  (mode) => {
    const wanted = { ...nothing, vars: { SIGN_UP: mode } }
    expect(findMailSettingWarnings(wanted)).toEqual([expect.stringContaining(`SIGN_UP is ${mode}`)])
    expect(findMailSettingWarnings(wanted)[0]).toContain("RESEND_API_KEY")
  },
)

test("a removed provider no longer counts, and a remaining one does", () => {
  const vars = { SIGN_UP: "open", MAIL_FROM: "Lathe <hello@lathe.example>" }
  expect(findMailSettingWarnings({ ...nothing, vars, deployed })).toEqual([])
  const secrets = { given: {}, dropped: ["RESEND_API_KEY"] }
  expect(findMailSettingWarnings({ vars, secrets, deployed })).toHaveLength(1)
})

test("a provider needs a sender outside of this machine", () => {
  expect(findMailSettingWarnings({ ...nothing, secrets: key })).toEqual([
    expect.stringContaining("MAIL_FROM"),
  ])
})
