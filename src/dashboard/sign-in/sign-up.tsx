import { Hono } from "hono"
import type { Context } from "hono"
import { settingsOf } from "../../env.ts"
import type { App } from "../../http/request.ts"
import { findInvitation } from "../../pipeline/accounts/invitations.ts"
import { Card } from "../components/card.tsx"
import { Field } from "../components/field.tsx"
import { redirectWith } from "../flash.ts"
import { askAuth } from "./ask-auth.ts"
import type { Refusal } from "./ask-auth.ts"
import { readFields, showSignInPage } from "./frame.tsx"
import { NewPasswordField } from "./new-password.tsx"

/** Sign-up, where it is open or for who has an invitation. */
export const signUp = new Hono<App>()

signUp.get("/sign-up", async (c) => {
  const token = c.req.query("invitation")
  if (token === undefined) {
    return settingsOf(c.env).SIGN_UP === "open" ? await showForm(c, {}) : await showClosed(c)
  }
  const invitation = await findInvitation(c.env, token)
  if (!invitation) return await showVoid(c)
  return await showForm(c, { email: invitation.email, token })
})

signUp.post("/sign-up", async (c) => {
  const { email, password, invitation: token } = await readFields(c)
  const invited = token === undefined ? {} : { invitation: token }
  const answer = await askAuth(c, "/sign-up/email", { email, password, ...invited })
  if (!answer.ok) {
    return await showForm(c, { email, refusal: answer.refusal, ...(token && { token }) })
  }
  if (token === undefined) return c.redirect("/verify-email", 303)
  const signedIn = await askAuth(c, "/sign-in/email", { email, password })
  if (signedIn.ok) return c.redirect("/", 303)
  return redirectWith(c, "/sign-in", "You have an account now. Sign in to it.")
})

type Form = { email?: string; token?: string; refusal?: Refusal }

async function showForm(c: Context<App>, { email, token, refusal }: Form) {
  return await showSignInPage(
    c,
    { title: "Sign up", refusal: refusal ?? null },
    <>
      <Card>
        <form method="post" action="/sign-up" class="form">
          {token !== undefined && <input type="hidden" name="invitation" value={token} />}
          <Field
            label="Email"
            name="email"
            type="email"
            value={email}
            autocomplete="username"
            readonly={token !== undefined}
            required
          />
          <NewPasswordField label="Password" name="password" />
          <button type="submit" class="button primary">
            Sign up
          </button>
        </form>
      </Card>
      <ToSignIn />
    </>,
  )
}

async function showClosed(c: Context<App>) {
  const isClosed = settingsOf(c.env).SIGN_UP === "closed"
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

async function showVoid(c: Context<App>) {
  return await showSignInPage(
    c,
    { title: "This invitation is void", status: 404 },
    <>
      <p>
        It was used, withdrawn, or is older than a week. If you signed up with it, sign in; else ask
        the operator of this service for another one.
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
