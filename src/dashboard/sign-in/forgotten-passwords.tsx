import { Hono } from "hono"
import type { Context } from "hono"
import type { App } from "../../http/request.ts"
import { Card } from "../components/card.tsx"
import { redirectWith } from "../flash.ts"
import { askAuth } from "./ask-auth.ts"
import type { Refusal } from "./ask-auth.ts"
import { EmailForm } from "./email-form.tsx"
import { readFields, showSignInPage } from "./frame.tsx"
import { NewPasswordField } from "./new-password.tsx"

/** Pages that set a password: the request of a mailed link, and the page of that link. */
export const forgottenPasswords = new Hono<App>()

forgottenPasswords.get("/forgot-password", async (c) => await showForgot(c, {}))

forgottenPasswords.post("/forgot-password", async (c) => {
  const { email } = await readFields(c)
  const answer = await askAuth(c, "/request-password-reset", { email })
  if (!answer.ok) return await showForgot(c, { email, refusal: answer.refusal })
  return await showSignInPage(
    c,
    { title: "Look into your mail" },
    <>
      <p>If there is a user with this email, a link to set a new password is on its way to it.</p>
      <p>
        <a href="/sign-in">Back to sign-in</a>
      </p>
    </>,
  )
})

forgottenPasswords.get(
  "/reset-password",
  async (c) => await showReset(c, c.req.query("token") ?? ""),
)

forgottenPasswords.post("/reset-password", async (c) => {
  const { token, password } = await readFields(c)
  const answer = await askAuth(c, "/reset-password", { token, newPassword: password })
  if (!answer.ok) return await showReset(c, token, answer.refusal)
  return redirectWith(c, "/sign-in", "The new password is set. Sign in with it.")
})

type Form = { email?: string; refusal?: Refusal }

async function showForgot(c: Context<App>, { email, refusal }: Form) {
  return await showSignInPage(
    c,
    { title: "Forgot the password?", refusal: refusal ?? null },
    <Card>
      <p>We mail a link by which you can set a new one.</p>
      <EmailForm action="/forgot-password" email={email} submit="Send the link" />
    </Card>,
  )
}

async function showReset(c: Context<App>, token: string, refusal?: Refusal) {
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
            hint="Whoever is signed in as you is signed out."
          />
          <button type="submit" class="button primary">
            Set the password
          </button>
        </form>
      </Card>
      <p>
        <a href="/forgot-password">Ask for another link</a>
      </p>
    </>,
  )
}
