import { Hono } from "hono"
import type { Context } from "hono"
import type { App } from "../../http/request.ts"
import { Card } from "../components/card.tsx"
import { Field } from "../components/field.tsx"
import { redirectWith } from "../flash.ts"
import { askAuth } from "./ask-auth.ts"
import type { Refusal } from "./ask-auth.ts"
import { readFields, showSignInPage } from "./frame.tsx"
import { NewPasswordField } from "./new-password.tsx"

/** Pages that ask for mailed links, and that these lead to. */
export const mailedLinks = new Hono<App>()

mailedLinks.get("/forgot-password", async (c) => await showForgot(c, {}))

mailedLinks.post("/forgot-password", async (c) => {
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

mailedLinks.get("/reset-password", async (c) => await showReset(c, c.req.query("token") ?? ""))

mailedLinks.post("/reset-password", async (c) => {
  const { token, password } = await readFields(c)
  const answer = await askAuth(c, "/reset-password", { token, newPassword: password })
  if (!answer.ok) return await showReset(c, token, answer.refusal)
  return redirectWith(c, "/sign-in", "The new password is set. Sign in with it.")
})

mailedLinks.get("/verify-email", async (c) => {
  const token = c.req.query("token")
  if (token === undefined) return await showAwaiting(c, {})
  const answer = await askAuth(c, `/verify-email?token=${encodeURIComponent(token)}`)
  if (!answer.ok) return await showAwaiting(c, { refusal: answer.refusal })
  if (answer.hasSession) return redirectWith(c, "/", "Your email is confirmed. Welcome.")
  return await showConfirmed(c, answer.body)
})

mailedLinks.post("/verify-email", async (c) => {
  const { email } = await readFields(c)
  const answer = await askAuth(c, "/send-verification-email", { email })
  return await showAwaiting(c, answer.ok ? { email } : { email, refusal: answer.refusal })
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

async function showAwaiting(c: Context<App>, { email, refusal }: Form) {
  return await showSignInPage(
    c,
    { title: "Confirm your email", refusal: refusal ?? null },
    <>
      <p>Follow the link in the mail that was sent to you; it works for a day.</p>
      <Card title="No mail?">
        <EmailForm action="/verify-email" email={email} submit="Send it again" />
      </Card>
    </>,
  )
}

/** What is left to do; a change of the email is agreed to at the old one first. */
async function showConfirmed(c: Context<App>, body: unknown) {
  const isAgreement = typeof body === "object" && body !== null && !("user" in body)
  return await showSignInPage(
    c,
    { title: isAgreement ? "One more mail" : "Your email is confirmed" },
    isAgreement ? (
      <p>Now follow the link in the mail that was sent to your new address.</p>
    ) : (
      <p>
        <a class="button primary" href="/">
          Go on
        </a>
      </p>
    ),
  )
}

function EmailForm(props: { action: string; email: string | undefined; submit: string }) {
  return (
    <form method="post" action={props.action} class="form">
      <Field
        label="Email"
        name="email"
        type="email"
        value={props.email}
        autocomplete="username"
        required
      />
      <button type="submit" class="button primary">
        {props.submit}
      </button>
    </form>
  )
}
