import { lte, sql } from "drizzle-orm"
import type { Database } from "./database.ts"
import { mailCounts } from "./schema/users.ts"

const HOUR_MS = 3_600_000

/**
 * Counts a mail to an address, unless the address had `max` of them in the hour that began with the
 * first; answers whether the mail may be sent.
 */
export async function countMail(
  database: Database,
  address: string,
  { max, now }: { max: number; now: number },
): Promise<boolean> {
  // A clock that was ahead began an hour that ends later than an hour from now.
  const isOver = sql`(${mailCounts.until} <= ${now} or ${mailCounts.until} > ${now + HOUR_MS})`
  const counted = await database
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
  return counted.length === 1
}

/** Removes the counts of hours that are over. */
export async function deleteOldMailCounts(database: Database, now: number): Promise<void> {
  await database.delete(mailCounts).where(lte(mailCounts.until, now))
}

/** Mailbox of an address: `ada@people.test` for `Ada+any@people.test`. */
function mailboxOf(address: string): string {
  const [, name = address, host = ""] = /^([^+]+)(?:\+.*)?(@[^@]*)$/.exec(address) ?? []
  return `${name}${host}`.toLowerCase()
}
