import { Hono } from "hono"
import type { Context } from "hono"
import { getSettings } from "../../bindings/env.ts"
import type { AppEnv } from "../../api/context.ts"
import { findInvitationByToken } from "../../accounts/invitations.ts"
import { SubmitButton } from "../components/buttons.tsx"
import { Card } from "../components/card.tsx"
import { redirectWithMessage } from "../flash.ts"
import { callBetterAuth } from "./ask-auth.ts"
import type { BetterAuthError } from "./ask-auth.ts"
import { EmailField } from "./email-form.tsx"
import { readSignInFields, showSignInPage } from "./frame.tsx"
import { NewPasswordField } from "./new-password.tsx"

/** Sign-up pages. Users need an invitation unless the setting SIGN_UP is `open`. */
export const signUpRoutes = new Hono<AppEnv>()

signUpRoutes.get("/sign-up", async (c) => {
  const token = c.req.query("invitation")
  if (token === undefined) {
    return getSettings(c.env).SIGN_UP === "open" ? await showForm(c, {}) : await showClosed(c)
  }
  const invitation = await findInvitationByToken(c.env, token)
  if (!invitation) return await showVoid(c)
  return await showForm(c, { email: invitation.email, token })
})

signUpRoutes.post("/sign-up", async (c) => {
  const { email, password, invitation: token } = await readSignInFields(c)
  const invited = token === undefined ? {} : { invitation: token }
  const answer = await callBetterAuth(c, "/sign-up/email", { email, password, ...invited })
  if (!answer.ok) {
    return await showForm(c, { email, refusal: answer.refusal, ...(token && { token }) })
  }
  if (token === undefined) return c.redirect("/verify-email", 303)
  const signedIn = await callBetterAuth(c, "/sign-in/email", { email, password })
  if (signedIn.ok) return c.redirect("/", 303)
  return redirectWithMessage(c, "/sign-in", "Your account is created. Sign in.")
})

type Form = { email?: string; token?: string; refusal?: BetterAuthError }

async function showForm(c: Context<AppEnv>, { email, token, refusal }: Form) {
  return await showSignInPage(
    c,
    { title: "Sign up", refusal: refusal ?? null },
    <>
      <Card>
        <form method="post" action="/sign-up" class="form">
          {token !== undefined && <input type="hidden" name="invitation" value={token} />}
          <EmailField value={email} readonly={token !== undefined} />
          <NewPasswordField label="Password" name="password" />
          <SubmitButton tone="primary" text="Sign up" />
        </form>
      </Card>
      <ToSignIn />
    </>,
  )
}

async function showClosed(c: Context<AppEnv>) {
  const isClosed = getSettings(c.env).SIGN_UP === "closed"
  return await showSignInPage(
    c,
    { title: "Sign up", status: 403 },
    <>
      <p>
        {isClosed ? "Sign-up is closed." : "Sign-up is by invitation."} Ask the operator of this
        service {isClosed ? "for an account" : "for one"}.
      </p>
      <ToSignIn />
    </>,
  )
}

async function showVoid(c: Context<AppEnv>) {
  return await showSignInPage(
    c,
    { title: "The invitation is not valid", status: 404 },
    <>
      <p>
        The invitation was used, withdrawn, or is older than a week. If you signed up with it, sign
        in; otherwise ask the operator of this service for a new invitation.
      </p>
      <ToSignIn />
    </>,
  )
}

function ToSignIn() {
  return (
    <p>
      Have an account? <a href="/sign-in">Sign in</a>
    </p>
  )
}
