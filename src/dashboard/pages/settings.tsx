import { Hono } from "hono"
import { readActiveSessions } from "../../accounts/sign-in/active-sessions.ts"
import { notFoundProblem } from "../../api/output/problem.ts"
import { getPublicOrigin } from "../../api/input/request.ts"
import { Card } from "../components/card.tsx"
import { DescriptionList } from "../components/description-list.tsx"
import type { PageContext, PageEnv } from "../context.ts"
import { redirectWithMessage } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { readFormFields } from "../read-form.ts"
import { callBetterAuth } from "../sign-in/ask-auth.ts"
import type { BetterAuthResult } from "../sign-in/ask-auth.ts"
import {
  DeleteAccountCard,
  EmailCard,
  MISTYPED_EMAIL_ERROR_CODE,
  PasswordCard,
  SessionsCard,
} from "./settings/cards.tsx"
import type { RefusedSettingsForm } from "./settings/cards.tsx"

/** Page of the user's settings: email, password, sessions, and deletion of the account. */
export const settingsPages = new Hono<PageEnv>()

settingsPages.get("/settings", async (c) => await showSettings(c, null))

settingsPages.post("/settings/email", async (c) => {
  const { email = "" } = await readFormFields(c)
  const answer = await callBetterAuth(c, "/change-email", { newEmail: email.trim() })
  return await finish(c, "email", answer, "Follow the link in the mail that we sent you.")
})

settingsPages.post("/settings/password", async (c) => {
  const { current: currentPassword = "", next: newPassword = "" } = await readFormFields(c)
  const json = { currentPassword, newPassword, revokeOtherSessions: true }
  const answer = await callBetterAuth(c, "/change-password", json)
  return await finish(c, "password", answer, "The password is changed.")
})

settingsPages.post("/settings/sessions/sign-out-others", async (c) => {
  const answer = await callBetterAuth(c, "/revoke-other-sessions", {})
  return await finish(c, "sessions", answer, "All other devices are signed out.")
})

settingsPages.post("/settings/sessions/:id/sign-out", async (c) => {
  const { user } = c.get("signedIn")
  const { sessions } = await readActiveSessions(c.env, getPublicOrigin(c), user.id)
  const session = sessions.find(({ id }) => id === c.req.param("id"))
  if (!session) throw notFoundProblem("session")
  const answer = await callBetterAuth(c, "/revoke-session", { token: session.token })
  return await finish(c, "sessions", answer, "The device is signed out.")
})

settingsPages.post("/settings/delete", async (c) => {
  const { email = "", password } = await readFormFields(c)
  if (email.trim().toLowerCase() !== c.get("signedIn").user.email.toLowerCase()) {
    const message = "The email address is not that of the account."
    const refusal = { status: 422 as const, code: MISTYPED_EMAIL_ERROR_CODE, message }
    return await showSettings(c, { form: "delete", refusal })
  }
  const answer = await callBetterAuth(c, "/delete-user", password === undefined ? {} : { password })
  if (!answer.ok) return await showSettings(c, { form: "delete", refusal: answer.refusal })
  return redirectWithMessage(c, "/sign-in", "The account is deleted.")
})

async function finish(
  c: PageContext,
  form: RefusedSettingsForm["form"],
  answer: BetterAuthResult,
  message: string,
): Promise<Response> {
  if (answer.ok) return redirectWithMessage(c, "/settings", message)
  return await showSettings(c, { form, refusal: answer.refusal })
}

async function showSettings(
  c: PageContext,
  refused: RefusedSettingsForm | null,
): Promise<Response> {
  const { sessionId, user, account } = c.get("signedIn")
  const { sessions, hasPassword } = await readActiveSessions(c.env, getPublicOrigin(c), user.id)
  const status = refused?.refusal.status ?? 200
  const content = (
    <>
      <div class="columns">
        <EmailCard email={user.email} refused={refused} />
        <PasswordCard hasPassword={hasPassword} refused={refused} />
      </div>
      <SessionsCard sessions={sessions} sessionId={sessionId} refused={refused} />
      <Card title="Account">
        <DescriptionList
          rows={[
            ["Account", <code>{account.id}</code>],
            ["Plan", account.plan],
          ]}
        />
      </Card>
      <DeleteAccountCard email={user.email} hasPassword={hasPassword} refused={refused} />
    </>
  )
  return await showPage(c, { title: "Settings", section: "settings", status }, content)
}
