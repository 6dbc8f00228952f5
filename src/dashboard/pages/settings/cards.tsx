import type { ActiveSession } from "../../../accounts/sign-in/active-sessions.ts"
import { ActionForm, SubmitButton } from "../../components/buttons.tsx"
import { Badge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { Field } from "../../components/field.tsx"
import { Notice } from "../../components/notice.tsx"
import { Table } from "../../components/table.tsx"
import { RelativeTime } from "../../components/time.tsx"
import type { BetterAuthError } from "../../sign-in/ask-auth.ts"
import { NewPasswordField } from "../../sign-in/new-password.tsx"
import { explainBetterAuthError } from "../../sign-in/error-messages.ts"

/** Refused form of the settings page, with the error of the form. */
export type RefusedSettingsForm = {
  form: "email" | "password" | "sessions" | "delete"
  refusal: BetterAuthError
}

type CardProps = { refused: RefusedSettingsForm | null }

export function EmailCard({ email, refused }: CardProps & { email: string }) {
  return (
    <Card title="Email">
      <form method="post" action="/settings/email" class="form">
        <p>
          You sign in as <strong>{email}</strong>.
        </p>
        <Field
          label="New email"
          name="email"
          type="email"
          required
          maxlength={320}
          autocomplete="email"
          hint="The new address is active once you follow the links that we mail you."
          error={sentenceFor(refused, "email")}
        />
        <div class="actions">
          <SubmitButton text="Change the email" />
        </div>
      </form>
    </Card>
  )
}

export function PasswordCard({ hasPassword, refused }: CardProps & { hasPassword: boolean }) {
  if (!hasPassword) {
    return (
      <Card title="Password">
        <p>
          You sign in with another service. <a href="/forgot-password">Request a link</a> to also
          set a password.
        </p>
      </Card>
    )
  }
  const isNewAtFault = refused?.refusal.code.startsWith("PASSWORD_TOO_") ?? false
  const fault = sentenceFor(refused, "password")
  return (
    <Card title="Password">
      <form method="post" action="/settings/password" class="form">
        <Field
          label="Current password"
          name="current"
          type="password"
          required
          autocomplete="current-password"
          error={isNewAtFault ? null : fault}
        />
        <NewPasswordField
          label="New password"
          name="next"
          hint="The change signs out all other devices."
          error={isNewAtFault ? fault : null}
        />
        <div class="actions">
          <SubmitButton text="Change the password" />
        </div>
      </form>
    </Card>
  )
}

type Sessions = { sessions: readonly ActiveSession[]; sessionId: string }

export function SessionsCard({ sessions, sessionId, refused }: CardProps & Sessions) {
  const fault = sentenceFor(refused, "sessions")
  return (
    <Card
      title="Signed-in devices"
      actions={
        sessions.length > 1 && (
          <ActionForm
            action="/settings/sessions/sign-out-others"
            asks="Sign out all other devices?"
            text="Sign out all other devices"
          />
        )
      }
    >
      {fault && <Notice tone="bad">{fault}</Notice>}
      <Table
        caption="Signed-in devices"
        columns={["Device", "Address", "Since", "Actions"]}
        rows={sessions.map((session) => [
          describeDevice(session.userAgent),
          session.ipAddress || <span class="soft">unknown</span>,
          <RelativeTime at={session.createdAt.getTime()} />,
          session.id === sessionId ? <Badge tone="good">here</Badge> : <SignOut of={session} />,
        ])}
      />
    </Card>
  )
}

function SignOut({ of: { id, userAgent } }: { of: ActiveSession }) {
  return (
    <ActionForm action={`/settings/sessions/${id}/sign-out`} tone="quiet">
      Sign out<span class="visually-hidden"> {describeDevice(userAgent)}</span>
    </ActionForm>
  )
}

export function DeleteAccountCard(props: CardProps & { email: string; hasPassword: boolean }) {
  const { email, hasPassword, refused } = props
  const code = refused?.refusal.code
  const fault = sentenceFor(refused, "delete")
  return (
    <Card title="Delete the account" id="delete">
      <p>
        Deletion refuses the keys at once, cancels jobs and deletes files. Deletion cannot be
        undone.
      </p>
      <form method="post" action="/settings/delete" class="form">
        {fault && code !== MISTYPED_EMAIL_ERROR_CODE && code !== PASSWORD_WRONG && (
          <Notice tone="bad">{fault}</Notice>
        )}
        <Field
          label={`Type ${email} to confirm`}
          name="email"
          id="delete-email"
          type="email"
          required
          autocomplete="off"
          error={code === MISTYPED_EMAIL_ERROR_CODE ? fault : null}
        />
        {hasPassword && (
          <Field
            label="Password"
            name="password"
            id="delete-password"
            type="password"
            required
            autocomplete="current-password"
            error={code === PASSWORD_WRONG ? fault : null}
          />
        )}
        <div class="actions">
          <SubmitButton
            tone="danger"
            asks="Delete the account and all its data?"
            text="Delete the account"
          />
        </div>
      </form>
    </Card>
  )
}

/**
 * Error code of the dashboard for a mistyped email in the form that deletes the account. The form
 * asks for the email of the account as a confirmation.
 */
export const MISTYPED_EMAIL_ERROR_CODE = "EMAIL_DIFFERS"
const PASSWORD_WRONG = "INVALID_PASSWORD"

/**
 * Sentences for error codes of better-auth that have another meaning on this page than on the
 * sign-in pages.
 */
const OWN_SENTENCES: Record<string, string> = {
  INVALID_EMAIL: "Enter a valid email address.",
  SESSION_EXPIRED:
    "Your sign-in is too old to delete the account: sign out, sign in again, then delete.",
}

function sentenceFor(
  refused: RefusedSettingsForm | null,
  form: RefusedSettingsForm["form"],
): string | null {
  if (refused?.form !== form) return null
  return OWN_SENTENCES[refused.refusal.code] ?? explainBetterAuthError(refused.refusal)
}

const BROWSERS = [
  ["Edge", /\bEdg(?:e|A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:Chrome|Chromium|CriOS)\//],
  ["Safari", /\bSafari\//],
  ["curl", /^curl\//],
] as const

const SYSTEMS = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMacintosh\b/],
  ["Linux", /\bLinux\b/],
] as const

/** Describes a device by its User-Agent header: `Firefox on Linux`. */
export function describeDevice(userAgent: string | null | undefined): string {
  const text = userAgent ?? ""
  const browser = BROWSERS.find(([, pattern]) => pattern.test(text))?.[0] ?? "Unknown browser"
  const system = SYSTEMS.find(([, pattern]) => pattern.test(text))?.[0]
  return system === undefined ? browser : `${browser} on ${system}`
}
