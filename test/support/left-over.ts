import { env } from "cloudflare:workers"

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

/** The rest of an account that left nothing. */
export const NOTHING = { files: 0, uploads: 0, jobs: 0, objects: 0 }
