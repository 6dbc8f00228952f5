import { env } from "cloudflare:workers"

/** Counts the files, uploads, jobs and R2 objects that are stored for an account. */
export async function countAccountData(accountId: string) {
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

/** Result of `countAccountData` for an account without stored data. */
export const NO_ACCOUNT_DATA = { files: 0, uploads: 0, jobs: 0, objects: 0 }
