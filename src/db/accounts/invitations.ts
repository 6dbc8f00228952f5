import { and, desc, eq, gt, lte } from "drizzle-orm"
import type { Database } from "../database.ts"
import { invitations } from "../schema/users.ts"
import type { Invitation } from "../schema/users.ts"

/** Stores an invitation, which replaces an earlier invitation for the same email. */
export async function storeInvitation(database: Database, invitation: Invitation): Promise<void> {
  const { email: _email, ...rest } = invitation
  await database
    .insert(invitations)
    .values(invitation)
    .onConflictDoUpdate({ target: invitations.email, set: rest })
}

/** Returns the unexpired invitation with a token or an email; null if no invitation matches. */
export async function findInvitation(
  database: Database,
  selector: { tokenHash: string } | { email: string },
  now: number,
): Promise<Invitation | null> {
  const isWanted =
    "email" in selector
      ? eq(invitations.email, selector.email)
      : eq(invitations.tokenHash, selector.tokenHash)
  const [row] = await database
    .select()
    .from(invitations)
    .where(and(isWanted, gt(invitations.expiresAt, now)))
    .limit(1)
  return row ?? null
}

/** Returns unexpired invitations, the newest first. */
export async function listInvitations(database: Database, now: number): Promise<Invitation[]> {
  return await database
    .select()
    .from(invitations)
    .where(gt(invitations.expiresAt, now))
    .orderBy(desc(invitations.createdAt))
}

/** Removes an invitation. Returns false if the invitation does not exist. */
export async function removeInvitation(database: Database, id: string): Promise<boolean> {
  const rows = await database
    .delete(invitations)
    .where(eq(invitations.id, id))
    .returning({ id: invitations.id })
  return rows.length > 0
}

/** Removes expired invitations of all accounts. */
export async function removeExpiredInvitations(database: Database, now: number): Promise<void> {
  await database.delete(invitations).where(lte(invitations.expiresAt, now))
}
