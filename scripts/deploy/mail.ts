import { settings } from "../../src/settings.ts"
import type { Deployment } from "./checks.ts"

/** What an operator should know of mails that the deployment cannot send, a sentence each. */
export function tellOfMail({ vars, secrets, deployed }: MailFacts): string[] {
  const { SIGN_UP: mode, MAIL_FROM: from } = settings
    .pick({ SIGN_UP: true, MAIL_FROM: true })
    .parse(vars)
  const isKept = deployed?.secretNames.includes(KEY) && !secrets.dropped.includes(KEY)
  if (KEY in secrets.given || isKept) return from.includes("@localhost") ? [NO_SENDER] : []
  return mode === "closed" ? [] : [`SIGN_UP is ${mode}, and ${NO_PROVIDER}`]
}

type MailFacts = Pick<Deployment, "vars" | "secrets" | "deployed">

const KEY = "RESEND_API_KEY"
const NO_PROVIDER =
  "no mail can be sent: nobody gets the link to confirm an email or to sign up by. Set RESEND_API_KEY and MAIL_FROM."
const NO_SENDER =
  "Mails have no sender that a provider takes: set MAIL_FROM to an address of yours."
