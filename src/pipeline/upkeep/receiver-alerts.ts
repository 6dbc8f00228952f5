import { settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { doOrLog, log } from "../../log.ts"
import { outageMail, WAITING_MAX } from "./outage-mail.ts"
import type { ToldOutage } from "./outage-mail.ts"
import { sendMail } from "../../mail/send.ts"
import { findLastOrigin, findEmail } from "../../storage/contacts.ts"
import { databaseOf } from "../../storage/database.ts"
import type { AccountDatabase, Database } from "../../storage/database.ts"
import {
  claimAlerts,
  countWaiting,
  listAlertDue,
  postponeAlerts,
} from "../../storage/receiver-outages.ts"
import type { ReceiverOutage } from "../../storage/schema/operations.ts"

/** Accounts of a sweep, and outages of one account; more are in mails of the next one. */
const ACCOUNTS_MAX = 10
const OUTAGES_MAX = 1000
/** Outages that a mail tells of in full. */
const TOLD_MAX = 10
const RETRY_MS = 3_600_000

/** Tells the owners of receivers that fail for a day, once for each outage. */
export async function tellOfOutages(env: Env, database: Database, now: number): Promise<void> {
  const due = { now, aheadMsMax: RETRY_MS, limit: ACCOUNTS_MAX }
  for (const accountId of await listAlertDue(database, due)) {
    await tellOwner(env, databaseOf(env, accountId), now)
  }
}

async function tellOwner(env: Env, database: AccountDatabase, now: number): Promise<void> {
  const account = { account_id: database.accountId }
  const outages = await claimAlerts(database, now, OUTAGES_MAX)
  for (const { receiver, failingSince, tries, status } of outages) {
    const since = new Date(failingSince).toISOString()
    log("warn", "webhooks.receiver_fails", { ...account, receiver, since, tries, status })
  }
  const isTold = await doOrLog("webhooks.alert_failed", account, async () => {
    await mailOwner(env, database, outages)
  })
  if (!isTold) await postponeAlerts(database, now, now + RETRY_MS)
}

async function mailOwner(
  env: Env,
  database: AccountDatabase,
  outages: readonly ReceiverOutage[],
): Promise<void> {
  const to = await findEmail(env, database.accountId)
  if (to === null || outages.length === 0) return
  const told: ToldOutage[] = []
  for (const outage of outages.slice(0, TOLD_MAX)) {
    told.push({ outage, waiting: await countWaiting(database, outage.receiver, WAITING_MAX) })
  }
  const origin = settingsOf(env).PUBLIC_ORIGIN ?? (await findLastOrigin(database))
  const mail = outageMail(told, outages.length - told.length, origin)
  if (!(await sendMail(env, { to, ...mail }))) throw new Error("the mail was not sent")
}
