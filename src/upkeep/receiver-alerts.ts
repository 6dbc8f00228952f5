import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { runOrLogError, log } from "../platform/log.ts"
import { sendMail } from "../accounts/mail/send.ts"
import { findOriginOfLastJob, findAccountEmail } from "../db/accounts/contacts.ts"
import { openAccountDatabases } from "../db/database.ts"
import type { AccountDatabase, Database } from "../db/database.ts"
import {
  claimDueOutageAlerts,
  countWaitingDeliveries,
  listAccountsWithDueOutageAlerts,
  postponeOutageAlerts,
} from "../db/receiver-outages.ts"
import type { ReceiverOutage } from "../db/schema/operations.ts"

/** Maximum number of waiting deliveries that are counted for one receiver. */
const WAITING_MAX = 1000

/**
 * Outage of a receiver, with the number of deliveries that wait for the receiver, up to
 * `WAITING_MAX`.
 */
type ToldOutage = { outage: ReceiverOutage; waiting: number }

/**
 * Returns the subject and text of the mail about failing webhook receivers. `more` is the number of
 * outages that the mail does not describe; `origin` is the scheme and host of the dashboard's URL,
 * null if unknown.
 */
function outageMail(outages: readonly ToldOutage[], more: number, origin: string | null) {
  const [first] = outages
  const isOne = outages.length === 1 && more === 0 && first
  const page = origin === null ? "the page Webhooks of the dashboard" : `${origin}/webhooks`
  const paragraphs = [
    "Hello,",
    `Webhooks of your account at Lathe have not reached ${isOne ? "this receiver" : "these receivers"} for a day or more:`,
    ...outages.map(describeOutage),
    ...(more > 0 ? [`${more} more receivers fail.`] : []),
    `Read the tries of each delivery and replay it here:`,
    page,
    "Lathe sends no further mail about this outage. The next webhook that arrives ends it.",
  ]
  return {
    subject: `Webhooks to ${isOne ? isOne.outage.receiver : `${outages.length + more} receivers`} fail`,
    text: paragraphs.join("\n\n"),
  }
}

function describeOutage({ outage, waiting }: ToldOutage): string {
  const { receiver, failingSince, failedAt, tries, status, error } = outage
  const reason = error ?? `the receiver answered ${status}`
  return [
    receiver,
    `- fails since ${moment(failingSince)}: none of ${tries} tries succeeded`,
    `- last try, at ${moment(failedAt)}: ${reason}`,
    `- waiting deliveries: ${waiting < WAITING_MAX ? waiting : `${WAITING_MAX} or more`}`,
  ].join("\n")
}

function moment(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`
}

/**
 * Maximum numbers of accounts per sweep and of outages per account. The next sweep continues with
 * the remaining ones.
 */
const ACCOUNTS_MAX = 10
const OUTAGES_MAX = 1000
/** Maximum number of outages that a mail describes. */
const TOLD_MAX = 10
const RETRY_MS = 3_600_000

/**
 * Sends a mail to the owners of accounts whose webhook receivers have failed for a day, once for
 * each outage.
 */
export async function alertOwnersOfFailingReceivers(
  env: Env,
  database: Database,
  now: number,
): Promise<void> {
  for (const accountId of await listAccountsWithDueOutageAlerts(database, {
    now,
    limit: ACCOUNTS_MAX,
  })) {
    await tellOwner(env, openAccountDatabases(env, accountId), now)
  }
}

async function tellOwner(env: Env, database: AccountDatabase, now: number): Promise<void> {
  const account = { account_id: database.accountId }
  const outages = await claimDueOutageAlerts(database, now, OUTAGES_MAX)
  for (const { receiver, failingSince, tries, status } of outages) {
    const since = new Date(failingSince).toISOString()
    log("warn", "webhooks.receiver_fails", { ...account, receiver, since, tries, status })
  }
  const isTold = await runOrLogError("webhooks.alert_failed", account, async () => {
    await mailOwner(env, database, outages)
  })
  if (!isTold) await postponeOutageAlerts(database, now, now + RETRY_MS)
}

async function mailOwner(
  env: Env,
  database: AccountDatabase,
  outages: readonly ReceiverOutage[],
): Promise<void> {
  const to = await findAccountEmail(env, database.accountId)
  if (to === null || outages.length === 0) return
  const toldOutages: ToldOutage[] = []
  for (const outage of outages.slice(0, TOLD_MAX)) {
    toldOutages.push({
      outage,
      waiting: await countWaitingDeliveries(database, outage.receiver, WAITING_MAX),
    })
  }
  const origin = getSettings(env).PUBLIC_ORIGIN ?? (await findOriginOfLastJob(database))
  const mail = outageMail(toldOutages, outages.length - toldOutages.length, origin)
  if (!(await sendMail(env, { to, ...mail }))) throw new Error("the mail was not sent")
}
