import { hashLinkToken, makeLinkToken } from "../../crypto/link-token.ts"
import type { Env } from "../../env.ts"
import { newId } from "../../ids.ts"
import { invitationMail } from "../../mail/templates.ts"
import { directoryOf } from "../../storage/database.ts"
import * as stored from "../../storage/invitations.ts"
import type { Invitation } from "../../storage/schema/users.ts"
import { findUserByEmail } from "../../storage/users.ts"
import { sendLimited } from "./limited-mail.ts"
import type { MailOutcome } from "./limited-mail.ts"

const LIFE_MS = 7 * 24 * 3_600_000

/**
 * Invites an email to sign up, for a week; an invitation that it has becomes void. Mails the link, and
 * answers the link and the outcome of the mail; null where a user has the email already.
 */
export async function inviteUser(
  env: Env,
  origin: string,
  wanted: { email: string; plan: string },
): Promise<{ invitation: Invitation; link: string; mail: MailOutcome } | null> {
  const database = directoryOf(env)
  const email = wanted.email.toLowerCase()
  const user = await findUserByEmail(database, email)
  if (user?.emailVerified) return null
  const token = makeLinkToken()
  const createdAt = Date.now()
  const invitation = {
    id: newId(),
    email,
    plan: wanted.plan,
    tokenHash: await hashLinkToken(token),
    createdAt,
    expiresAt: createdAt + LIFE_MS,
  }
  await stored.storeInvitation(database, invitation)
  const link = `${origin}/sign-up?invitation=${token}`
  const mail = await sendLimited(env, "invitation", invitationMail({ to: email, link }))
  return { invitation, link, mail }
}

/** The invitations that nobody took up yet, the newest first; those that expired are removed. */
export async function listInvitations(env: Env): Promise<Invitation[]> {
  const database = directoryOf(env)
  const now = Date.now()
  await stored.removeExpiredInvitations(database, now)
  return await stored.listInvitations(database, now)
}

/** Withdraws an invitation; false where there is none. */
export async function withdrawInvitation(env: Env, id: string): Promise<boolean> {
  return await stored.removeInvitation(directoryOf(env), id)
}

/** The invitation of the token of a mailed link; null where it is void. */
export async function findInvitation(env: Env, token: string): Promise<Invitation | null> {
  const tokenHash = await hashLinkToken(token)
  return await stored.findInvitation(directoryOf(env), { tokenHash }, Date.now())
}
