import { Hono } from "hono"
import type { Context } from "hono"
import { readEmailLink } from "../../auth/email-links.ts"
import type { EmailLink } from "../../auth/email-links.ts"
import { findSignedIn } from "../../auth/session.ts"
import { publicOrigin } from "../../http/request.ts"
import type { App } from "../../http/request.ts"
import { Card } from "../components/card.tsx"
import { Field } from "../components/field.tsx"
import { redirectWith } from "../flash.ts"
import { askAuth } from "./ask-auth.ts"
import type { Refusal } from "./ask-auth.ts"
import { EmailForm } from "./email-form.tsx"
import { readFields, showSignInPage } from "./frame.tsx"
import { NewPasswordField } from "./new-password.tsx"
import { withNext } from "./next-path.ts"

/**
 * Pages of mailed links that confirm an email. A GET changes nothing: scanners of mails open links, and
 * an attacker may send a link of the attacker's own account to sign somebody in to that account.
 */
export const confirmations = new Hono<App>()

const PATH = "/verify-email"

confirmations.get(PATH, async (c) => {
  const token = c.req.query("token")
  if (token === undefined) return await showAwaiting(c, {})
  const link = await readEmailLink(c.env, token)
  if (!link) return await showAwaiting(c, { refusal: VOID })
  const signedIn = await findSignedIn(c.env, publicOrigin(c), c.req.raw.headers)
  if (signedIn && signedIn.user.id !== link.user.id) {
    return await showOther(c, signedIn.user.email, link)
  }
  if (link.purpose !== "confirm") {
    const next = `${PATH}?token=${encodeURIComponent(token)}`
    if (!signedIn) return c.redirect(withNext("/sign-in", next), 303)
    return await showChange(c, token, link)
  }
  const shown = { token, email: link.user.email }
  return c.req.query("password") === "new"
    ? await showNewPassword(c, shown)
    : await showConfirmation(c, shown)
})

confirmations.post(PATH, async (c) => {
  const { email, token, password, newPassword } = await readFields(c)
  if (token === "") return await mailAgain(c, email)
  const link = await readEmailLink(c.env, token)
  if (!link) return await showAwaiting(c, { refusal: VOID })
  if (link.purpose !== "confirm") return await change(c, token, link)
  const json = newPassword === undefined ? { token, password } : { token, newPassword }
  const answer = await askAuth(c, "/confirm-email", json)
  if (answer.ok) return redirectWith(c, "/", "Your email is confirmed. Welcome.")
  const { refusal } = answer
  if (refusal.code === "INVALID_TOKEN") return await showAwaiting(c, { refusal })
  const shown = { token, email: link.user.email, refusal }
  return newPassword === undefined && refusal.code !== "PASSWORD_DIFFERS"
    ? await showConfirmation(c, shown)
    : await showNewPassword(c, shown)
})

const VOID: Refusal = { status: 422, code: "INVALID_TOKEN", message: "" }

async function mailAgain(c: Context<App>, email: string) {
  const answer = await askAuth(c, "/send-verification-email", { email })
  return await showAwaiting(c, answer.ok ? { email } : { email, refusal: answer.refusal })
}

async function change(c: Context<App>, token: string, { purpose }: EmailLink) {
  const answer = await askAuth(c, "/confirm-email-change", { token })
  if (!answer.ok) return await showAwaiting(c, { refusal: answer.refusal })
  if (purpose === "change") return redirectWith(c, "/settings", "Your new email is confirmed.")
  return await showSignInPage(
    c,
    { title: "One more mail" },
    <p>Now follow the link in the mail that was sent to your new address.</p>,
  )
}

async function showAwaiting(c: Context<App>, shown: { email?: string; refusal?: Refusal }) {
  const { email, refusal = null } = shown
  return await showSignInPage(
    c,
    { title: "Confirm your email", refusal },
    <>
      <p>Follow the link in the mail that was sent to you; it works for a day.</p>
      <Card title="No mail?">
        <EmailForm action={PATH} email={email} submit="Send it again" />
      </Card>
    </>,
  )
}

type Confirmation = { token: string; email: string; refusal?: Refusal }

async function showConfirmation(c: Context<App>, { token, email, refusal }: Confirmation) {
  return await showSignInPage(
    c,
    { title: "Confirm your email", refusal: refusal ?? null },
    <>
      <Card>
        <form method="post" action={PATH} class="form">
          <TokenAndEmail token={token} email={email} />
          <Field
            label="Password"
            name="password"
            type="password"
            hint="The one that was chosen at sign-up."
            autocomplete="current-password"
            required
            autofocus
          />
          <button type="submit" class="button primary">
            Confirm and sign in
          </button>
        </form>
      </Card>
      <p>
        <a href={`${PATH}?password=new&token=${encodeURIComponent(token)}`}>
          Choose another password
        </a>
      </p>
    </>,
  )
}

async function showNewPassword(c: Context<App>, { token, email, refusal }: Confirmation) {
  return await showSignInPage(
    c,
    { title: "Choose a password", refusal: refusal ?? null },
    <>
      <Card>
        <form method="post" action={PATH} class="form">
          <TokenAndEmail token={token} email={email} />
          <NewPasswordField
            label="New password"
            name="newPassword"
            hint="The one that was chosen at sign-up counts no more."
          />
          <button type="submit" class="button primary">
            Confirm and sign in
          </button>
        </form>
      </Card>
      <p>
        <a href={`${PATH}?token=${encodeURIComponent(token)}`}>Enter the one of the sign-up</a>
      </p>
    </>,
  )
}

/** The token of the link, and the email for password managers. */
function TokenAndEmail({ token, email }: { token: string; email: string }) {
  return (
    <>
      <input type="hidden" name="token" value={token} />
      <Field
        label="Email"
        name="email"
        type="email"
        value={email}
        autocomplete="username"
        readonly
      />
    </>
  )
}

async function showChange(
  c: Context<App>,
  token: string,
  { user, purpose, newEmail }: Extract<EmailLink, { newEmail: string }>,
) {
  return await showSignInPage(
    c,
    { title: "Change your email" },
    <Card>
      <p>
        You sign in as <strong>{user.email}</strong>, and want to do so as{" "}
        <strong>{newEmail}</strong>.
      </p>
      <form method="post" action={PATH} class="form">
        <input type="hidden" name="token" value={token} />
        <button type="submit" class="button primary">
          {purpose === "agree" ? "Send a link to the new address" : "Change the email"}
        </button>
      </form>
    </Card>,
  )
}

/** Tells a user who is signed in that the link belongs to another user. */
async function showOther(c: Context<App>, email: string, { user }: EmailLink) {
  return await showSignInPage(
    c,
    { title: "This link is for another user", status: 403 },
    <Card>
      <p>
        You are signed in as <strong>{email}</strong>, and the link is for{" "}
        <strong>{user.email}</strong>. Sign out and follow the link again if that is you, too.
      </p>
      <form method="post" action="/sign-out" class="form">
        <button type="submit" class="button">
          Sign out
        </button>
      </form>
    </Card>,
  )
}
