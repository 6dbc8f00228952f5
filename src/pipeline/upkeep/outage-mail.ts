import type { ReceiverOutage } from "../../storage/schema/operations.ts"

/** Counts of waiting deliveries end here. */
export const WAITING_MAX = 1000

/** An outage, and how many deliveries wait for their next try, up to WAITING_MAX. */
export type ToldOutage = { outage: ReceiverOutage; waiting: number }

/**
 * Subject and text of the mail that receivers of webhooks fail, and that as many `more` do; `origin`
 * is that of the dashboard.
 */
export function outageMail(told: readonly ToldOutage[], more: number, origin: string | null) {
  const [first] = told
  const isOne = told.length === 1 && more === 0 && first
  const page = origin === null ? "the page Webhooks of the dashboard" : `${origin}/webhooks`
  const paragraphs = [
    "Hello,",
    `webhooks of your account at Lathe have not reached ${isOne ? "this receiver" : "these receivers"} for a day or more:`,
    ...told.map(describeOutage),
    ...(more > 0 ? [`And ${more} more.`] : []),
    `Every delivery with its tries, and a way to send it once more, is here:`,
    page,
    "There is no further mail about this outage. Once a webhook arrives there again, it is over, and a later one is told of again.",
  ]
  return {
    subject: `Webhooks to ${isOne ? isOne.outage.receiver : `${told.length + more} receivers`} fail`,
    text: paragraphs.join("\n\n"),
  }
}

function describeOutage({ outage, waiting }: ToldOutage): string {
  const { receiver, failingSince, failedAt, tries, status, error } = outage
  const reason = error ?? `it answered ${status}`
  return [
    receiver,
    `- fails since ${moment(failingSince)}: ${tries} tries, and none succeeded`,
    `- the last of them, at ${moment(failedAt)}: ${reason}`,
    `- deliveries that wait for their next try: ${waiting < WAITING_MAX ? waiting : `${WAITING_MAX} or more`}`,
  ].join("\n")
}

function moment(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`
}
