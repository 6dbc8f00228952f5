import type { Env } from "../../env.ts"
import { log } from "../../log.ts"
import { sendMail } from "../../mail/send.ts"
import type { Mail } from "../../mail/send.ts"
import { directoryOf } from "../../storage/database.ts"
import { countMail } from "../../storage/mail-counts.ts"

/**
 * Mails to one address in an hour, of all purposes together, up to which a mail of a purpose is sent.
 * The steps keep room for links that set a password after strangers requested other mails.
 */
export const MAILS_PER_HOUR = { notice: 2, confirmation: 4, reset: 5, invitation: 6 } as const

export type MailPurpose = keyof typeof MAILS_PER_HOUR

/** Outcome of a mail: `limited` where the address had its mails of the hour. */
export type MailOutcome = "sent" | "failed" | "limited"

/** Sends a mail that another person than its addressee may have requested, within the limit. */
export async function sendLimited(
  env: Env,
  purpose: MailPurpose,
  mail: Mail,
): Promise<MailOutcome> {
  const limit = { max: MAILS_PER_HOUR[purpose], now: Date.now() }
  if (await countMail(directoryOf(env), mail.to, limit)) {
    return (await sendMail(env, mail)) ? "sent" : "failed"
  }
  log("info", "mail.limited", { to: mail.to, purpose })
  return "limited"
}
