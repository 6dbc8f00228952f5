import type { Env } from "../env.ts"
import type { Mail } from "../mail/send.ts"
import {
  changeEmailMail,
  knownUserMail,
  newEmailMail,
  resetMail,
  signedUpAgainMail,
  verificationMail,
} from "../mail/templates.ts"
import { sendLimited } from "../pipeline/accounts/limited-mail.ts"
import type { MailPurpose } from "../pipeline/accounts/limited-mail.ts"
import type { User } from "../storage/schema/users.ts"
import { makeEmailLink } from "./email-links.ts"
import type { LinkPurpose } from "./email-links.ts"

type Addressee = Pick<User, "id" | "email">

export type Mails = ReturnType<typeof mailsOf>

/** The mails to users about how they sign in; their links go to pages of this service. */
export function mailsOf(env: Env, origin: string) {
  async function send(purpose: MailPurpose, mail: Mail): Promise<void> {
    await sendLimited(env, purpose, mail)
  }
  async function linkFor(user: Addressee, purpose: LinkPurpose): Promise<string> {
    return linkTo(origin, "/verify-email", await makeEmailLink(env, user, purpose))
  }
  return {
    /** Sends the link that confirms the email of a sign-up. */
    async confirm(user: Addressee): Promise<void> {
      const link = await linkFor(user, { purpose: "confirm" })
      await send("confirmation", verificationMail({ to: user.email, link }))
    },
    /** Tells a user of a further sign-up with the same email, which changed nothing. */
    async tellOfSignUp(user: Addressee & { emailVerified: boolean }): Promise<void> {
      const { email: to, emailVerified } = user
      if (emailVerified) {
        return await send("notice", knownUserMail({ to, link: `${origin}/sign-in` }))
      }
      const link = await linkFor(user, { purpose: "confirm" })
      await send("confirmation", signedUpAgainMail({ to, link }))
    },
    /** Sends the link that sets a password. */
    async reset({ email: to }: Addressee, token: string): Promise<void> {
      await send("reset", resetMail({ to, link: linkTo(origin, "/reset-password", token) }))
    },
    /** Sends the link that agrees to another email, to the present address. */
    async agree(user: Addressee, newEmail: string): Promise<void> {
      const link = await linkFor(user, { purpose: "agree", newEmail })
      await send("confirmation", changeEmailMail({ to: user.email, link, newEmail }))
    },
    /** Sends the link that confirms another email, to the new address. */
    async change(user: Addressee, newEmail: string): Promise<void> {
      const link = await linkFor(user, { purpose: "change", newEmail })
      await send("confirmation", newEmailMail({ to: newEmail, link }))
    },
  }
}

function linkTo(origin: string, path: string, token: string): string {
  return `${origin}${path}?token=${encodeURIComponent(token)}`
}
