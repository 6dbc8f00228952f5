import { and, desc, eq, gt, lte } from "drizzle-orm"
import type { Database } from "./database.ts"
import { invitations } from "./schema/users.ts"
import type { Invitation } from "./schema/users.ts"

/** Stores an invitation in place of one that its email has. */
export async function storeInvitation(database: Database, invitation: Invitation): Promise<void> {
  const { email: _email, ...rest } = invitation
  await database
    .insert(invitations)
    .values(invitation)
    .onConflictDoUpdate({ target: invitations.email, set: rest })
}

/** The invitation of a token or of an email that has not expired; null where there is none. */
export async function findInvitation(
  database: Database,
  wanted: { tokenHash: string } | { email: string },
  now: number,
): Promise<Invitation | null> {
  const isWanted =
    "email" in wanted
      ? eq(invitations.email, wanted.email)
      : eq(invitations.tokenHash, wanted.tokenHash)
  const [row] = await database
    .select()
    .from(invitations)
    .where(and(isWanted, gt(invitations.expiresAt, now)))
    .limit(1)
  return row ?? null
}

/** The invitations that have not expired, the newest first. */
export async function listInvitations(database: Database, now: number): Promise<Invitation[]> {
  return await database
    .select()
    .from(invitations)
    .where(gt(invitations.expiresAt, now))
    .orderBy(desc(invitations.createdAt))
}

/** Removes an invitation; false where there is none. */
export async function removeInvitation(database: Database, id: string): Promise<boolean> {
  const rows = await database
    .delete(invitations)
    .where(eq(invitations.id, id))
    .returning({ id: invitations.id })
  return rows.length > 0
}

/** Removes the invitations that have expired. */
export async function removeExpiredInvitations(database: Database, now: number): Promise<void> {
  await database.delete(invitations).where(lte(invitations.expiresAt, now))
}
