import type { Env } from "../../bindings/env.ts"
import { log } from "../../platform/log.ts"
import { sendMail } from "./send.ts"
import type { Mail } from "./send.ts"
import { openDirectory } from "../../db/database.ts"
import { countMailIfAllowed } from "../../db/accounts/mail-counts.ts"

/**
 * Maximum number of mails to one address in an hour, by the purpose of the mail to be sent. Mails
 * of all purposes count together. Password resets have a higher limit than notices and
 * confirmations, so that strangers who request those mails for an address cannot block a reset.
 */
export const MAILS_PER_HOUR_MAX = { notice: 2, confirmation: 4, reset: 5, invitation: 6 } as const

export type MailPurpose = keyof typeof MAILS_PER_HOUR_MAX

/**
 * Outcome of a mail; `limited` if the address has already received the maximum number of mails in
 * this hour.
 */
export type MailOutcome = "sent" | "failed" | "limited"

/**
 * Sends a mail unless its address has received the maximum number of mails in this hour. All mails
 * that a stranger can request are sent by this function.
 */
export async function sendRateLimitedMail(
  env: Env,
  purpose: MailPurpose,
  mail: Mail,
): Promise<MailOutcome> {
  const limit = { max: MAILS_PER_HOUR_MAX[purpose], now: Date.now() }
  if (await countMailIfAllowed(openDirectory(env), mail.to, limit)) {
    return (await sendMail(env, mail)) ? "sent" : "failed"
  }
  log("info", "mail.limited", { to: mail.to, purpose })
  return "limited"
}
