import { waitUntil } from "cloudflare:workers"
import { z } from "zod"
import type { Env } from "../env.ts"
import { fromBase64Url } from "../crypto/signature.ts"
import type { Mail } from "../mail/send.ts"
import { changeEmailMail, knownUserMail, resetMail, verificationMail } from "../mail/templates.ts"
import { sendLimited } from "../pipeline/accounts/limited-mail.ts"
import type { MailPurpose } from "../pipeline/accounts/limited-mail.ts"

type Addressee = { email: string; emailVerified: boolean }
type Sent = { user: Addressee; token: string }

/** The mails that better-auth asks for; their links go to pages of this service. */
export function mailsOf(env: Env, origin: string) {
  return {
    sendReset: async ({ user, token }: Sent): Promise<void> => {
      const link = linkTo(origin, "/reset-password", token)
      sendLater(env, "reset", resetMail({ to: user.email, link }))
    },
    sendVerification: async ({ user, token }: Sent): Promise<void> => {
      // Who was invited is asked to confirm nothing; a new email is another matter.
      if (user.emailVerified && !changesEmail(token)) return
      const link = linkTo(origin, "/verify-email", token)
      sendLater(env, "confirmation", verificationMail({ to: user.email, link }))
    },
    sendChange: async ({ user, token, newEmail }: Sent & { newEmail: string }): Promise<void> => {
      const link = linkTo(origin, "/verify-email", token)
      sendLater(env, "confirmation", changeEmailMail({ to: user.email, link, newEmail }))
    },
    tellKnownUser: async ({ user }: { user: Addressee }): Promise<void> => {
      sendLater(env, "notice", knownUserMail({ to: user.email, link: `${origin}/sign-in` }))
    },
  }
}

/** How long an answer takes is not to tell whether a mail is sent. */
function sendLater(env: Env, purpose: MailPurpose, mail: Mail): void {
  waitUntil(sendLimited(env, purpose, mail))
}

function linkTo(origin: string, path: string, token: string): string {
  return `${origin}${path}?token=${encodeURIComponent(token)}`
}

const claims = z.object({ updateTo: z.string().optional() })

/** Whether better-auth made a token, a JWT, to put another email in place of a user's. */
function changesEmail(token: string): boolean {
  const bytes = fromBase64Url(token.split(".")[1] ?? "")
  if (!bytes) return false
  const payload: unknown = JSON.parse(new TextDecoder().decode(bytes))
  return claims.parse(payload).updateTo !== undefined
}
