import pRetry, { AbortError } from "p-retry"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { newId } from "../ids.ts"
import { logError } from "../log.ts"
import { toHtml } from "./html.ts"

export type Mail = { to: string; subject: string; text: string }

const ANSWER_WITHIN_MS = 8000
/** With the waits in between all tries end within what Cloudflare gives work after an answer. */
const RETRIES = { retries: 2, minTimeout: 500, factor: 2 }

/**
 * Sends a mail by the provider of the settings, or on one machine to the folder of mails. One that
 * cannot be sent is logged, and nothing is thrown; answers whether it was sent.
 */
export async function sendMail(env: Env, mail: Mail): Promise<boolean> {
  const { to, subject } = mail
  try {
    await way(env)(env, mail)
    return true
  } catch (error) {
    logError("mail.failed", { to, subject, error: String(error) })
    return false
  }
}

function way(env: Env): (env: Env, mail: Mail) => Promise<void> {
  if (env.RESEND_API_KEY) return postMail
  return env.MAILS ? keepMail : refuseMail
}

async function postMail(env: Env, mail: Mail): Promise<void> {
  const { MAIL_API_URL: url, MAIL_FROM: from } = settingsOf(env)
  const headers = {
    authorization: `Bearer ${env.RESEND_API_KEY}`,
    "content-type": "application/json",
    // A try that was answered too late is not sent twice.
    "idempotency-key": newId(),
  }
  const { to, subject, text } = mail
  const body = JSON.stringify({ from, to: [to], subject, text, html: toHtml(text) })
  await pRetry(async () => {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
    const answer = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" })
    await answer.body?.cancel()
    if (answer.ok) return
    const refusal = new Error(`the provider answered with status ${answer.status}`)
    throw answer.status === 429 || answer.status >= 500 ? refusal : new AbortError(refusal)
  }, RETRIES)
}

async function keepMail(env: Env, mail: Mail): Promise<void> {
  const { MAIL_FROM: from } = settingsOf(env)
  const init = { method: "POST", body: JSON.stringify({ from, ...mail }) }
  const answer = await env.MAILS?.fetch("http://mails/", init)
  if (!answer?.ok) throw new Error(`the folder of mails answered with status ${answer?.status}`)
}

async function refuseMail(): Promise<void> {
  throw new Error("no mail provider is set; RESEND_API_KEY is the setting")
}
