import type { Context } from "hono"
import type { Child } from "hono/jsx"
import { z } from "zod"
import type { App } from "../../http/request.ts"
import { Notice } from "../components/notice.tsx"
import { takeFlash } from "../flash.ts"
import { Brand, Document } from "../layout.tsx"
import { readForm } from "../read-form.ts"
import { sentenceOf } from "./sentences.ts"
import type { Refusal } from "./ask-auth.ts"

type Shown = { title: string; refusal?: Refusal | null; status?: 200 | 403 | 404 | 422 | 429 }

/** A page for who is not signed in: one matter, and what went wrong with it. */
export function showSignInPage(
  c: Context<App>,
  { title, refusal = null, status = refusal?.status ?? 200 }: Shown,
  content: Child,
): Response | Promise<Response> {
  const flash = takeFlash(c)
  const page = (
    <Document title={title}>
      <main>
        <Brand />
        <h1>{title}</h1>
        {flash && <Notice tone={flash.tone}>{flash.message}</Notice>}
        {refusal && <Notice tone="bad">{sentenceOf(refusal)}</Notice>}
        {content}
      </main>
    </Document>
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

/** The fields of a form of these pages; what is missing is empty, and better-auth says so. */
export async function readFields(c: Context<App>): Promise<z.infer<typeof fields>> {
  const { email, ...others } = fields.parse(await readForm(c))
  return { ...others, email: email.trim() }
}
