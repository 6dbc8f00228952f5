import { lte, sql } from "drizzle-orm"
import type { Database } from "../database.ts"
import { mailCounts } from "../schema/users.ts"

const HOUR_MS = 3_600_000

/**
 * Counts a mail to an address, and reports whether the mail may be sent. Each address may get `max`
 * mails in an hour. The hour begins with the first mail.
 */
export async function countMailIfAllowed(
  database: Database,
  address: string,
  { max, now }: { max: number; now: number },
): Promise<boolean> {
  // A stored window that ends more than an hour from now is invalid: the clock was ahead when the
  // window began.
  const isOver = sql`(${mailCounts.until} <= ${now} or ${mailCounts.until} > ${now + HOUR_MS})`
  const rows = await database
    .insert(mailCounts)
    .values({ address: mailboxOf(address), count: 1, until: now + HOUR_MS })
    .onConflictDoUpdate({
      target: mailCounts.address,
      set: {
        count: sql`case when ${isOver} then 1 else ${mailCounts.count} + 1 end`,
        until: sql`case when ${isOver} then excluded.until else ${mailCounts.until} end`,
      },
      setWhere: sql`${isOver} or ${mailCounts.count} < ${max}`,
    })
    .returning({ count: mailCounts.count })
  return rows.length === 1
}

/** Deletes the mail counts whose hour has ended. */
export async function deleteOldMailCounts(database: Database, now: number): Promise<void> {
  await database.delete(mailCounts).where(lte(mailCounts.until, now))
}

/**
 * Returns an email address without the tag of its local part, in lower case: `ada@people.test` for
 * `Ada+any@people.test`.
 */
function mailboxOf(address: string): string {
  const [, name = address, host = ""] = /^([^+]+)(?:\+.*)?(@[^@]*)$/.exec(address) ?? []
  return `${name}${host}`.toLowerCase()
}
