import { Hono } from "hono"
import type { Context } from "hono"
import type { AppEnv } from "../../api/context.ts"
import { SubmitButton } from "../components/buttons.tsx"
import { Card } from "../components/card.tsx"
import { redirectWithMessage } from "../flash.ts"
import { callBetterAuth } from "./ask-auth.ts"
import type { BetterAuthError } from "./ask-auth.ts"
import { EmailForm } from "./email-form.tsx"
import { readSignInFields, showSignInPage } from "./frame.tsx"
import { NewPasswordField } from "./new-password.tsx"

/**
 * Pages to reset a password: the request of a mailed link, and the form to which the link leads.
 */
export const passwordResetRoutes = new Hono<AppEnv>()

passwordResetRoutes.get("/forgot-password", async (c) => await showForgot(c, {}))

passwordResetRoutes.post("/forgot-password", async (c) => {
  const { email } = await readSignInFields(c)
  const answer = await callBetterAuth(c, "/request-password-reset", { email })
  if (!answer.ok) return await showForgot(c, { email, refusal: answer.refusal })
  return await showSignInPage(
    c,
    { title: "Check your mail" },
    <>
      <p>If a user has this email address, we mail a link to set a new password to it.</p>
      <p>
        <a href="/sign-in">Back to sign-in</a>
      </p>
    </>,
  )
})

passwordResetRoutes.get(
  "/reset-password",
  async (c) => await showReset(c, c.req.query("token") ?? ""),
)

passwordResetRoutes.post("/reset-password", async (c) => {
  const { token, password } = await readSignInFields(c)
  const answer = await callBetterAuth(c, "/reset-password", { token, newPassword: password })
  if (!answer.ok) return await showReset(c, token, answer.refusal)
  return redirectWithMessage(c, "/sign-in", "The new password is set. Sign in with it.")
})

type Form = { email?: string; refusal?: BetterAuthError }

async function showForgot(c: Context<AppEnv>, { email, refusal }: Form) {
  return await showSignInPage(
    c,
    { title: "Forgot the password?", refusal: refusal ?? null },
    <Card>
      <p>We mail you a link to set a new password.</p>
      <EmailForm action="/forgot-password" email={email} submit="Send the link" />
    </Card>,
  )
}

async function showReset(c: Context<AppEnv>, token: string, refusal?: BetterAuthError) {
  return await showSignInPage(
    c,
    { title: "Set a password", refusal: refusal ?? null },
    <>
      <Card>
        <form method="post" action="/reset-password" class="form">
          <input type="hidden" name="token" value={token} />
          <NewPasswordField
            label="New password"
            name="password"
            hint="The change signs out all your devices."
          />
          <SubmitButton tone="primary" text="Set the password" />
        </form>
      </Card>
      <p>
        <a href="/forgot-password">Request another link</a>
      </p>
    </>,
  )
}
