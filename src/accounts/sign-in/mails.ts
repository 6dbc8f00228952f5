import type { Env } from "../../bindings/env.ts"
import type { Mail } from "../mail/send.ts"
import {
  agreeToNewEmailMail,
  existingUserMail,
  confirmNewEmailMail,
  passwordResetMail,
  repeatedSignUpMail,
  verificationMail,
} from "../mail/templates.ts"
import { sendRateLimitedMail } from "../mail/limited-mail.ts"
import type { MailPurpose } from "../mail/limited-mail.ts"
import type { User } from "../../db/schema/users.ts"
import { makeEmailLinkToken } from "./email-links.ts"
import type { EmailLinkPurpose } from "./email-links.ts"

type Addressee = Pick<User, "id" | "email">

export type SignInMailers = ReturnType<typeof makeSignInMailers>

/**
 * Returns functions that mail links for sign-up, password and email changes. The links lead to
 * pages at the origin.
 */
export function makeSignInMailers(env: Env, origin: string) {
  async function send(purpose: MailPurpose, mail: Mail): Promise<void> {
    await sendRateLimitedMail(env, purpose, mail)
  }
  async function linkFor(user: Addressee, purpose: EmailLinkPurpose): Promise<string> {
    return linkTo(origin, "/verify-email", await makeEmailLinkToken(env, user, purpose))
  }
  return {
    /** Mails the link that confirms the email of a sign-up. */
    async confirm(user: Addressee): Promise<void> {
      const link = await linkFor(user, { purpose: "confirm" })
      await send("confirmation", verificationMail({ to: user.email, link }))
    },
    /** Notifies a user of a further sign-up with the user's email, which changed nothing. */
    async notifyOfSignUp(user: Addressee & { emailVerified: boolean }): Promise<void> {
      const { email: to, emailVerified } = user
      if (emailVerified) {
        return await send("notice", existingUserMail({ to, link: `${origin}/sign-in` }))
      }
      const link = await linkFor(user, { purpose: "confirm" })
      await send("confirmation", repeatedSignUpMail({ to, link }))
    },
    /** Mails the link that sets a new password. */
    async reset({ email: to }: Addressee, token: string): Promise<void> {
      await send("reset", passwordResetMail({ to, link: linkTo(origin, "/reset-password", token) }))
    },
    /** Mails the link to the present address by which the user agrees to a new address. */
    async agree(user: Addressee, newEmail: string): Promise<void> {
      const link = await linkFor(user, { purpose: "agree", newEmail })
      await send("confirmation", agreeToNewEmailMail({ to: user.email, link, newEmail }))
    },
    /** Mails the link that completes the change of a user's email, to the new email. */
    async change(user: Addressee, newEmail: string): Promise<void> {
      const link = await linkFor(user, { purpose: "change", newEmail })
      await send("confirmation", confirmNewEmailMail({ to: newEmail, link }))
    },
  }
}

function linkTo(origin: string, path: string, token: string): string {
  return `${origin}${path}?token=${encodeURIComponent(token)}`
}
