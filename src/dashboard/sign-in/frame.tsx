import type { Context } from "hono"
import type { Child } from "hono/jsx"
import { z } from "zod"
import type { AppEnv } from "../../api/context.ts"
import { Notice } from "../components/notice.tsx"
import { takeFlashMessage } from "../flash.ts"
import { BrandLink, HtmlDocument } from "../layout.tsx"
import { readFormFields } from "../read-form.ts"
import { explainBetterAuthError } from "./error-messages.ts"
import type { BetterAuthError } from "./ask-auth.ts"

type FrameProps = {
  title: string
  refusal?: BetterAuthError | null
  status?: 200 | 403 | 404 | 422 | 429
}

/**
 * Responds with a page that requires no signed-in user. Shows the error of the last submitted form.
 */
export function showSignInPage(
  c: Context<AppEnv>,
  { title, refusal = null, status = refusal?.status ?? 200 }: FrameProps,
  content: Child,
): Response | Promise<Response> {
  const flash = takeFlashMessage(c)
  const page = (
    <HtmlDocument title={title}>
      <main>
        <BrandLink />
        <h1>{title}</h1>
        {flash && <Notice tone={flash.tone}>{flash.message}</Notice>}
        {refusal && <Notice tone="bad">{explainBetterAuthError(refusal)}</Notice>}
        {content}
      </main>
    </HtmlDocument>
  )
  return c.html(page, status)
}

const EMAIL_LENGTH_MAX = 320

const fields = z.object({
  email: z.string().max(EMAIL_LENGTH_MAX).catch(""),
  password: z.string().catch(""),
  newPassword: z.string().optional().catch(undefined),
  next: z.string().optional().catch(undefined),
  token: z.string().catch(""),
  invitation: z.string().optional().catch(undefined),
})

/**
 * Reads the fields of a sign-in form. Missing fields are empty, and better-auth reports their
 * errors.
 */
export async function readSignInFields(c: Context<AppEnv>): Promise<z.infer<typeof fields>> {
  const { email, ...others } = fields.parse(await readFormFields(c))
  return { ...others, email: email.trim() }
}
