import { settingsSchema } from "../../src/bindings/settings.ts"
import type { CheckedDeployment } from "./checks.ts"

/** Returns a sentence for each reason why the deployment cannot send mails. */
export function findMailSettingWarnings({ vars, secrets, deployed }: MailFacts): string[] {
  const { SIGN_UP: mode, MAIL_FROM: from } = settingsSchema
    .pick({ SIGN_UP: true, MAIL_FROM: true })
    .parse(vars)
  const isKept = deployed?.secretNames.includes(KEY) && !secrets.dropped.includes(KEY)
  if (KEY in secrets.given || isKept) return from.includes("@localhost") ? [NO_SENDER] : []
  return mode === "closed" ? [] : [`SIGN_UP is ${mode}, and ${NO_PROVIDER}`]
}

type MailFacts = Pick<CheckedDeployment, "vars" | "secrets" | "deployed">

const KEY = "RESEND_API_KEY"
const NO_PROVIDER =
  "no mail can be sent, so users get no links to confirm an email or to sign up. Set RESEND_API_KEY and MAIL_FROM."
const NO_SENDER =
  "Mails have no sender that a provider accepts: set MAIL_FROM to an address of yours."
