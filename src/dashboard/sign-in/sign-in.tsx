import { Hono } from "hono"
import type { Context } from "hono"
import { z } from "zod"
import { getSettings } from "../../bindings/env.ts"
import { getPublicOrigin } from "../../api/input/request.ts"
import type { AppEnv } from "../../api/context.ts"
import { findSignedInUser } from "../../accounts/sign-in/signed-in-user.ts"
import { isSignInProvider, readSignInProviders } from "../../bindings/sign-in-providers.ts"
import type { SignInProvider } from "../../bindings/sign-in-providers.ts"
import { LinkButton, SubmitButton } from "../components/buttons.tsx"
import { Card } from "../components/card.tsx"
import { Field } from "../components/field.tsx"
import { Notice } from "../components/notice.tsx"
import { redirectWithMessage } from "../flash.ts"
import { callBetterAuth } from "./ask-auth.ts"
import type { BetterAuthError } from "./ask-auth.ts"
import { EmailField } from "./email-form.tsx"
import { readSignInFields, showSignInPage } from "./frame.tsx"
import { sanitizeNextPath, addNextPath } from "./next-path.ts"
import { explainSignInErrorCode } from "./error-messages.ts"

/** Pages to sign in by password or by a sign-in service, and to sign out. */
export const signInRoutes = new Hono<AppEnv>()

signInRoutes.get("/sign-in", async (c) => {
  const next = sanitizeNextPath(c.req.query("next"), getPublicOrigin(c))
  const signedIn = await findSignedInUser(c.env, getPublicOrigin(c), c.req.raw.headers)
  if (signedIn) return c.redirect(next, 303)
  return await showForm(c, { next, returned: c.req.query("error") })
})

signInRoutes.post("/sign-in", async (c) => {
  const { email, password, next: requestedPath } = await readSignInFields(c)
  const next = sanitizeNextPath(requestedPath, getPublicOrigin(c))
  const answer = await callBetterAuth(c, "/sign-in/email", { email, password })
  if (answer.ok) return c.redirect(next, 303)
  return await showForm(c, { next, email, refusal: answer.refusal })
})

const provided = z.object({ url: z.url() })

signInRoutes.get("/sign-in/with/:provider", async (c) => {
  const provider = c.req.param("provider")
  const origin = getPublicOrigin(c)
  const next = sanitizeNextPath(c.req.query("next"), origin)
  const isKnown = isSignInProvider(provider) && provider in providersOf(c)
  // Another site must not start a sign-in, and a sign-in must not replace a session.
  const isFromElsewhere = c.req.header("sec-fetch-site") === "cross-site"
  const signedIn = await findSignedInUser(c.env, origin, c.req.raw.headers)
  if (signedIn) return c.redirect(next, 303)
  if (!isKnown || isFromElsewhere) return c.redirect(addNextPath("/sign-in", next), 303)
  const urls = { callbackURL: `${origin}${next}`, errorCallbackURL: `${origin}/sign-in` }
  const answer = await callBetterAuth(c, "/sign-in/social", { provider, ...urls }, { origin })
  if (!answer.ok) return await showForm(c, { next, refusal: answer.refusal })
  return c.redirect(provided.parse(answer.body).url, 303)
})

signInRoutes.post("/sign-out", async (c) => {
  await callBetterAuth(c, "/sign-out", {})
  return redirectWithMessage(c, "/sign-in", "You are signed out.")
})

type Form = {
  next: string
  email?: string
  refusal?: BetterAuthError
  returned?: string | undefined
}

async function showForm(c: Context<AppEnv>, { next, email, refusal, returned }: Form) {
  const isOpen = getSettings(c.env).SIGN_UP === "open"
  return await showSignInPage(
    c,
    { title: "Sign in", refusal: refusal ?? null },
    <>
      {returned !== undefined && <Notice tone="bad">{explainSignInErrorCode(returned)}</Notice>}
      <Card>
        <form method="post" action="/sign-in" class="form">
          <input type="hidden" name="next" value={next} />
          <EmailField value={email} autofocus />
          <Field
            label="Password"
            name="password"
            type="password"
            autocomplete="current-password"
            required
          />
          <SubmitButton tone="primary" text="Sign in" />
        </form>
        <ProviderLinks c={c} next={next} />
      </Card>
      <p>
        <a href="/forgot-password">Forgot the password?</a>
      </p>
      {isOpen && (
        <p>
          No account yet? <a href="/sign-up">Sign up</a>
        </p>
      )}
    </>,
  )
}

/** Links to the sign-in services that the operator has configured. */
function ProviderLinks({ c, next }: { c: Context<AppEnv>; next: string }) {
  const names = Object.keys(providersOf(c)).filter(isSignInProvider)
  return (
    <>
      {names.map((name) => (
        <p>
          <LinkButton to={addNextPath(`/sign-in/with/${name}`, next)}>
            Sign in with {TITLES[name]}
          </LinkButton>
        </p>
      ))}
    </>
  )
}

const TITLES: Record<SignInProvider, string> = {
  discord: "Discord",
  dropbox: "Dropbox",
  github: "GitHub",
  gitlab: "GitLab",
  google: "Google",
  huggingface: "Hugging Face",
  linkedin: "LinkedIn",
  microsoft: "Microsoft",
  slack: "Slack",
  twitch: "Twitch",
  twitter: "X",
  vercel: "Vercel",
  zoom: "Zoom",
}

function providersOf(c: Context<AppEnv>) {
  return readSignInProviders(c.env.SIGN_IN_PROVIDERS)
}
