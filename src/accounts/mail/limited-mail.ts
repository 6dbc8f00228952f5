import type { Env } from "../../bindings/env.ts"
import { log } from "../../platform/log.ts"
import { sendMail } from "./send.ts"
import type { Mail } from "./send.ts"
import { openDirectory } from "../../db/database.ts"
import { countMailIfAllowed } from "../../db/accounts/mail-counts.ts"

/**
 * Number of mails to one address within an hour at which further mails of a purpose are refused.
 * Mails of all purposes count together. The different limits leave room for a password reset after
 * strangers have requested other mails to the address.
 */
export const MAILS_PER_HOUR = { notice: 2, confirmation: 4, reset: 5, invitation: 6 } as const

export type MailPurpose = keyof typeof MAILS_PER_HOUR

/**
 * Outcome of a mail; `limited` if the address has already received the maximum number of mails in
 * this hour.
 */
export type MailOutcome = "sent" | "failed" | "limited"

/**
 * Sends a mail unless the limit of its address is reached. All mails that a stranger can request
 * are sent by this function.
 */
export async function sendRateLimitedMail(
  env: Env,
  purpose: MailPurpose,
  mail: Mail,
): Promise<MailOutcome> {
  const limit = { max: MAILS_PER_HOUR[purpose], now: Date.now() }
  if (await countMailIfAllowed(openDirectory(env), mail.to, limit)) {
    return (await sendMail(env, mail)) ? "sent" : "failed"
  }
  log("info", "mail.limited", { to: mail.to, purpose })
  return "limited"
}
