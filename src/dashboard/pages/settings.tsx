import { Hono } from "hono"
import { readSignIns } from "../../auth/sessions.ts"
import { notFound } from "../../http/problem.ts"
import { publicOrigin } from "../../http/request.ts"
import { Card } from "../components/card.tsx"
import { Facts } from "../components/facts.tsx"
import type { PageContext, Pages } from "../context.ts"
import { redirectWith } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { readForm } from "../read-form.ts"
import { askAuth } from "../sign-in/ask-auth.ts"
import type { AuthAnswer } from "../sign-in/ask-auth.ts"
import { DeleteCard, EmailCard, NAME_WRONG, PasswordCard, SessionsCard } from "./settings/cards.tsx"
import type { Refused } from "./settings/cards.tsx"

/** What a user may change about how they sign in, and the end of the account. */
export const settingsPages = new Hono<Pages>()

settingsPages.get("/settings", async (c) => await showSettings(c, null))

settingsPages.post("/settings/email", async (c) => {
  const { email = "" } = await readForm(c)
  const answer = await askAuth(c, "/change-email", { newEmail: email.trim() })
  return await finish(c, "email", answer, "Follow the link in the mail that was sent to you.")
})

settingsPages.post("/settings/password", async (c) => {
  const { current: currentPassword = "", next: newPassword = "" } = await readForm(c)
  const json = { currentPassword, newPassword, revokeOtherSessions: true }
  const answer = await askAuth(c, "/change-password", json)
  return await finish(c, "password", answer, "The password is changed.")
})

settingsPages.post("/settings/sessions/sign-out-others", async (c) => {
  const answer = await askAuth(c, "/revoke-other-sessions", {})
  return await finish(c, "sessions", answer, "You are signed out everywhere else.")
})

settingsPages.post("/settings/sessions/:id/sign-out", async (c) => {
  const { user } = c.get("signedIn")
  const { sessions } = await readSignIns(c.env, publicOrigin(c), user.id)
  const session = sessions.find(({ id }) => id === c.req.param("id"))
  if (!session) throw notFound("session")
  const answer = await askAuth(c, "/revoke-session", { token: session.token })
  return await finish(c, "sessions", answer, "That device is signed out.")
})

settingsPages.post("/settings/delete", async (c) => {
  const { email = "", password } = await readForm(c)
  if (email.trim().toLowerCase() !== c.get("signedIn").user.email.toLowerCase()) {
    const message = "This is not the email of the account."
    const refusal = { status: 422 as const, code: NAME_WRONG, message }
    return await showSettings(c, { form: "delete", refusal })
  }
  const answer = await askAuth(c, "/delete-user", password === undefined ? {} : { password })
  if (!answer.ok) return await showSettings(c, { form: "delete", refusal: answer.refusal })
  return redirectWith(c, "/sign-in", "The account is deleted.")
})

async function finish(
  c: PageContext,
  form: Refused["form"],
  answer: AuthAnswer,
  message: string,
): Promise<Response> {
  if (answer.ok) return redirectWith(c, "/settings", message)
  return await showSettings(c, { form, refusal: answer.refusal })
}

async function showSettings(c: PageContext, refused: Refused | null): Promise<Response> {
  const { sessionId, user, account } = c.get("signedIn")
  const { sessions, hasPassword } = await readSignIns(c.env, publicOrigin(c), user.id)
  const status = refused?.refusal.status ?? 200
  const content = (
    <>
      <div class="columns">
        <EmailCard email={user.email} refused={refused} />
        <PasswordCard hasPassword={hasPassword} refused={refused} />
      </div>
      <SessionsCard sessions={sessions} sessionId={sessionId} refused={refused} />
      <Card title="Account">
        <Facts
          rows={[
            ["Account", <code>{account.id}</code>],
            ["Plan", account.plan],
          ]}
        />
      </Card>
      <DeleteCard email={user.email} hasPassword={hasPassword} refused={refused} />
    </>
  )
  return await showPage(c, { title: "Settings", section: "settings", status }, content)
}
