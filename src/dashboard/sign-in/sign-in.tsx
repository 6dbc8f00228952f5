import { Hono } from "hono"
import type { Context } from "hono"
import { z } from "zod"
import { settingsOf } from "../../env.ts"
import { publicOrigin } from "../../http/request.ts"
import type { App } from "../../http/request.ts"
import { findSignedIn } from "../../auth/session.ts"
import { isSignInProvider, readSignInProviders } from "../../sign-in-providers.ts"
import type { SignInProvider } from "../../sign-in-providers.ts"
import { Card } from "../components/card.tsx"
import { Field } from "../components/field.tsx"
import { Notice } from "../components/notice.tsx"
import { redirectWith } from "../flash.ts"
import { askAuth } from "./ask-auth.ts"
import type { Refusal } from "./ask-auth.ts"
import { readFields, showSignInPage } from "./frame.tsx"
import { nextPath, withNext } from "./next-path.ts"
import { sentenceOfReturned } from "./sentences.ts"

/** Sign-in by password or by another service, and sign-out. */
export const signIn = new Hono<App>()

signIn.get("/sign-in", async (c) => {
  const next = nextPath(c.req.query("next"), publicOrigin(c))
  const signedIn = await findSignedIn(c.env, publicOrigin(c), c.req.raw.headers)
  if (signedIn) return c.redirect(next, 303)
  return await showForm(c, { next, returned: c.req.query("error") })
})

signIn.post("/sign-in", async (c) => {
  const { email, password, next: wanted } = await readFields(c)
  const next = nextPath(wanted, publicOrigin(c))
  const answer = await askAuth(c, "/sign-in/email", { email, password })
  if (answer.ok) return c.redirect(next, 303)
  return await showForm(c, { next, email, refusal: answer.refusal })
})

const provided = z.object({ url: z.url() })

signIn.get("/sign-in/with/:provider", async (c) => {
  const provider = c.req.param("provider")
  const origin = publicOrigin(c)
  const next = nextPath(c.req.query("next"), origin)
  const isKnown = isSignInProvider(provider) && provider in providersOf(c)
  // A page of another site begins no sign-in here, and no sign-in replaces a session.
  const isFromElsewhere = c.req.header("sec-fetch-site") === "cross-site"
  const signedIn = await findSignedIn(c.env, origin, c.req.raw.headers)
  if (signedIn) return c.redirect(next, 303)
  if (!isKnown || isFromElsewhere) return c.redirect(withNext("/sign-in", next), 303)
  const urls = { callbackURL: `${origin}${next}`, errorCallbackURL: `${origin}/sign-in` }
  const answer = await askAuth(c, "/sign-in/social", { provider, ...urls }, { origin })
  if (!answer.ok) return await showForm(c, { next, refusal: answer.refusal })
  return c.redirect(provided.parse(answer.body).url, 303)
})

signIn.post("/sign-out", async (c) => {
  await askAuth(c, "/sign-out", {})
  return redirectWith(c, "/sign-in", "You are signed out.")
})

type Form = { next: string; email?: string; refusal?: Refusal; returned?: string | undefined }

async function showForm(c: Context<App>, { next, email, refusal, returned }: Form) {
  const isOpen = settingsOf(c.env).SIGN_UP === "open"
  return await showSignInPage(
    c,
    { title: "Sign in", refusal: refusal ?? null },
    <>
      {returned !== undefined && <Notice tone="bad">{sentenceOfReturned(returned)}</Notice>}
      <Card>
        <form method="post" action="/sign-in" class="form">
          <input type="hidden" name="next" value={next} />
          <Field
            label="Email"
            name="email"
            type="email"
            value={email}
            autocomplete="username"
            required
            autofocus
          />
          <Field
            label="Password"
            name="password"
            type="password"
            autocomplete="current-password"
            required
          />
          <button type="submit" class="button primary">
            Sign in
          </button>
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

/** Ways to sign in by other services, as far as the operator has set some. */
function ProviderLinks({ c, next }: { c: Context<App>; next: string }) {
  const names = Object.keys(providersOf(c)).filter(isSignInProvider)
  return (
    <>
      {names.map((name) => (
        <p>
          <a class="button" href={withNext(`/sign-in/with/${name}`, next)}>
            Sign in with {TITLES[name]}
          </a>
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

function providersOf(c: Context<App>) {
  return readSignInProviders(c.env.SIGN_IN_PROVIDERS)
}
