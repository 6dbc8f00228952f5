import { Hono } from "hono"
import type { Context } from "hono"
import { verifyEmailLinkToken } from "../../accounts/sign-in/email-links.ts"
import type { EmailLink } from "../../accounts/sign-in/email-links.ts"
import { findSignedInUser } from "../../accounts/sign-in/signed-in-user.ts"
import { getPublicOrigin } from "../../api/input/request.ts"
import type { AppEnv } from "../../api/context.ts"
import { SubmitButton } from "../components/buttons.tsx"
import { Card } from "../components/card.tsx"
import { Field } from "../components/field.tsx"
import { redirectWithMessage } from "../flash.ts"
import { callBetterAuth } from "./ask-auth.ts"
import type { BetterAuthError } from "./ask-auth.ts"
import { EmailField, EmailForm } from "./email-form.tsx"
import { readSignInFields, showSignInPage } from "./frame.tsx"
import { NewPasswordField } from "./new-password.tsx"
import { addNextPath } from "./next-path.ts"

/**
 * Pages of the mailed links that confirm an email. A GET request changes nothing, because mail
 * scanners open links, and because an attacker could send a link that signs the victim in to the
 * attacker's account.
 */
export const confirmationRoutes = new Hono<AppEnv>()

const PATH = "/verify-email"

confirmationRoutes.get(PATH, async (c) => {
  const token = c.req.query("token")
  if (token === undefined) return await showAwaiting(c, {})
  const link = await verifyEmailLinkToken(c.env, token)
  if (!link) return await showAwaiting(c, { refusal: VOID })
  const signedIn = await findSignedInUser(c.env, getPublicOrigin(c), c.req.raw.headers)
  if (signedIn && signedIn.user.id !== link.user.id) {
    return await showOther(c, signedIn.user.email, link)
  }
  if (link.purpose !== "confirm") {
    const next = `${PATH}?token=${encodeURIComponent(token)}`
    if (!signedIn) return c.redirect(addNextPath("/sign-in", next), 303)
    return await showChange(c, token, link)
  }
  const form = { token, email: link.user.email }
  return await showConfirmation(c, form, c.req.query("password") === "new")
})

confirmationRoutes.post(PATH, async (c) => {
  const { email, token, password, newPassword } = await readSignInFields(c)
  if (token === "") return await mailAgain(c, email)
  const link = await verifyEmailLinkToken(c.env, token)
  if (!link) return await showAwaiting(c, { refusal: VOID })
  if (link.purpose !== "confirm") return await change(c, token, link)
  const json = newPassword === undefined ? { token, password } : { token, newPassword }
  const answer = await callBetterAuth(c, "/confirm-email", json)
  if (answer.ok) return redirectWithMessage(c, "/", "Your email is confirmed. Welcome.")
  const { refusal } = answer
  if (refusal.code === "INVALID_TOKEN") return await showAwaiting(c, { refusal })
  const form = { token, email: link.user.email, refusal }
  const isNew = newPassword !== undefined || refusal.code === "PASSWORD_DIFFERS"
  return await showConfirmation(c, form, isNew)
})

const VOID: BetterAuthError = { status: 422, code: "INVALID_TOKEN", message: "" }

async function mailAgain(c: Context<AppEnv>, email: string) {
  const answer = await callBetterAuth(c, "/send-verification-email", { email })
  return await showAwaiting(c, answer.ok ? { email } : { email, refusal: answer.refusal })
}

async function change(c: Context<AppEnv>, token: string, { purpose }: EmailLink) {
  const answer = await callBetterAuth(c, "/confirm-email-change", { token })
  if (!answer.ok) return await showAwaiting(c, { refusal: answer.refusal })
  if (purpose === "change")
    return redirectWithMessage(c, "/settings", "Your new email is confirmed.")
  return await showSignInPage(
    c,
    { title: "Confirm your new email address" },
    <p>Follow the link in the mail that we sent to your new address.</p>,
  )
}

async function showAwaiting(
  c: Context<AppEnv>,
  form: { email?: string; refusal?: BetterAuthError },
) {
  const { email, refusal = null } = form
  return await showSignInPage(
    c,
    { title: "Confirm your email", refusal },
    <>
      <p>Follow the link in the mail that we sent you. The link works for a day.</p>
      <Card title="No mail?">
        <EmailForm action={PATH} email={email} submit="Send it again" />
      </Card>
    </>,
  )
}

type Confirmation = { token: string; email: string; refusal?: BetterAuthError }

/**
 * Page with the form that confirms an email by the password of the sign-up, or by a new password.
 */
async function showConfirmation(
  c: Context<AppEnv>,
  { token, email, refusal }: Confirmation,
  isNew: boolean,
) {
  const other = `${PATH}?${isNew ? "" : "password=new&"}token=${encodeURIComponent(token)}`
  return await showSignInPage(
    c,
    { title: isNew ? "Choose a password" : "Confirm your email", refusal: refusal ?? null },
    <>
      <Card>
        <form method="post" action={PATH} class="form">
          <input type="hidden" name="token" value={token} />
          {/* Read-only field from which password managers read the email. */}
          <EmailField value={email} readonly />
          {isNew ? <NewPassword /> : <SignUpPassword />}
          <SubmitButton tone="primary" text="Confirm and sign in" />
        </form>
      </Card>
      <p>
        <a href={other}>
          {isNew ? "Enter the password of the sign-up" : "Choose another password"}
        </a>
      </p>
    </>,
  )
}

function NewPassword() {
  return (
    <NewPasswordField
      label="New password"
      name="newPassword"
      hint="The new password replaces that of the sign-up."
    />
  )
}

function SignUpPassword() {
  return (
    <Field
      label="Password"
      name="password"
      type="password"
      hint="The password that you chose at sign-up."
      autocomplete="current-password"
      required
      autofocus
    />
  )
}

async function showChange(
  c: Context<AppEnv>,
  token: string,
  { user, purpose, newEmail }: Extract<EmailLink, { newEmail: string }>,
) {
  return await showSignInPage(
    c,
    { title: "Change your email" },
    <Card>
      <p>
        Your email address is <strong>{user.email}</strong>. The new address is{" "}
        <strong>{newEmail}</strong>.
      </p>
      <form method="post" action={PATH} class="form">
        <input type="hidden" name="token" value={token} />
        <SubmitButton tone="primary">
          {purpose === "agree" ? "Send a link to the new address" : "Change the email"}
        </SubmitButton>
      </form>
    </Card>,
  )
}

/** Page that tells the signed-in user that the link belongs to another user. */
async function showOther(c: Context<AppEnv>, email: string, { user }: EmailLink) {
  return await showSignInPage(
    c,
    { title: "The link is for another user", status: 403 },
    <Card>
      <p>
        You are signed in as <strong>{email}</strong>, and the link is for{" "}
        <strong>{user.email}</strong>. If you are that user, sign out and follow the link again.
      </p>
      <form method="post" action="/sign-out" class="form">
        <SubmitButton text="Sign out" />
      </form>
    </Card>,
  )
}
