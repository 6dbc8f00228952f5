import pRetry, { AbortError } from "p-retry"

import { getSettings } from "../../bindings/env.ts"
import type { Env } from "../../bindings/env.ts"
import { newId } from "../../platform/ids.ts"
import { logError } from "../../platform/log.ts"

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

/** Converts the plain text of a mail to HTML with paragraphs and links. */
export function mailTextToHtml(text: string): string {
  const paragraphs = text.split(/\n{2,}/).map((paragraph) => {
    const lines = escapeHtml(paragraph).replaceAll("\n", "<br>")
    return `<p>${lines.replaceAll(/https?:\/\/[^\s<]+/g, '<a href="$&">$&</a>')}</p>`
  })
  return `<!doctype html><html lang="en"><body>${paragraphs.join("")}</body></html>`
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
}

export type Mail = { to: string; subject: string; text: string }

const ANSWER_WITHIN_MS = 8000
/**
 * Number of retries of a failed request to the mail provider, and the first wait in milliseconds,
 * which doubles with each retry. All attempts together must end within the time that Cloudflare
 * grants for work after a response.
 */
const RETRIES = { retries: 2, minTimeout: 500, factor: 2 }

/**
 * Sends a mail by the configured provider, or writes the mail to the mail folder of a service on
 * one machine. Returns true on success. Logs a failure instead of throwing.
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
  const { MAIL_API_URL: url, MAIL_FROM: from } = getSettings(env)
  const headers = {
    authorization: `Bearer ${env.RESEND_API_KEY}`,
    "content-type": "application/json",
    // The idempotency key prevents a second mail when a retry follows a response that arrived too
    // late.
    "idempotency-key": newId(),
  }
  const { to, subject, text } = mail
  const body = JSON.stringify({ from, to: [to], subject, text, html: mailTextToHtml(text) })
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
  const { MAIL_FROM: from } = getSettings(env)
  const init = { method: "POST", body: JSON.stringify({ from, ...mail }) }
  const answer = await env.MAILS?.fetch("http://mails/", init)
  if (!answer?.ok) throw new Error(`the folder of mails answered with status ${answer?.status}`)
}

async function refuseMail(): Promise<void> {
  throw new Error("no mail provider is set; set RESEND_API_KEY")
}
