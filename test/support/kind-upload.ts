import { env } from "cloudflare:workers"
import type { Caller } from "./caller.ts"

export type Part = [name: string, value: string | File]

/** A file of a form; the kinds of these tests do not look into it. */
export function media(content = "bytes", name = "talk.wav"): File {
  return new File([content], name)
}

/** Sends a normalization as a form. */
export function sendForm(
  caller: Caller,
  parts: Part[],
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new FormData()
  for (const [name, part] of parts) body.append(name, part)
  return caller.call("/normalize", { method: "POST", body, headers })
}

/** How much is kept of an account. */
export async function leftOver(accountId: string) {
  const [files, uploads, jobs] = await Promise.all(
    ["files", "uploads", "jobs"].map((table) =>
      env.DB.prepare(`select count(*) as n from ${table} where account_id = ?`)
        .bind(accountId)
        .first<number>("n"),
    ),
  )
  const { objects } = await env.MEDIA.list({ prefix: `${accountId}/` })
  return { files, uploads, jobs, objects: objects.length }
}

export const NOTHING = { files: 0, uploads: 0, jobs: 0, objects: 0 }
