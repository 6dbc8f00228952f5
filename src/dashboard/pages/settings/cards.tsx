import type { OpenSession } from "../../../auth/sessions.ts"
import { Badge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { Field } from "../../components/field.tsx"
import { Notice } from "../../components/notice.tsx"
import { Table } from "../../components/table.tsx"
import { Time } from "../../components/time.tsx"
import type { Refusal } from "../../sign-in/ask-auth.ts"
import { NewPasswordField } from "../../sign-in/new-password.tsx"
import { sentenceOf } from "../../sign-in/sentences.ts"
import { describeDevice } from "./device.ts"

/** A form of the page that was refused, and why. */
export type Refused = { form: "email" | "password" | "sessions" | "delete"; refusal: Refusal }

type Answered = { refused: Refused | null }

export function EmailCard({ email, refused }: Answered & { email: string }) {
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
          hint="It counts once you have followed the link in the mail that is sent for it."
          error={sentenceFor(refused, "email")}
        />
        <div class="actions">
          <button type="submit" class="button">
            Change the email
          </button>
        </div>
      </form>
    </Card>
  )
}

export function PasswordCard({ hasPassword, refused }: Answered & { hasPassword: boolean }) {
  if (!hasPassword) {
    return (
      <Card title="Password">
        <p>
          You sign in by another service. <a href="/forgot-password">Ask for a link</a> to set a
          password beside it.
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
          hint="All other places where you are signed in are signed out."
          error={isNewAtFault ? fault : null}
        />
        <div class="actions">
          <button type="submit" class="button">
            Change the password
          </button>
        </div>
      </form>
    </Card>
  )
}

type Sessions = { sessions: readonly OpenSession[]; sessionId: string }

export function SessionsCard({ sessions, sessionId, refused }: Answered & Sessions) {
  const fault = sentenceFor(refused, "sessions")
  return (
    <Card
      title="Where you are signed in"
      actions={
        sessions.length > 1 && (
          <form method="post" action="/settings/sessions/sign-out-others">
            <button type="submit" class="button" data-confirm="Sign out everywhere but here?">
              Sign out everywhere else
            </button>
          </form>
        )
      }
    >
      {fault && <Notice tone="bad">{fault}</Notice>}
      <Table
        caption="Where you are signed in"
        columns={["Device", "Address", "Since", "Actions"]}
        rows={sessions.map((session) => [
          describeDevice(session.userAgent),
          session.ipAddress || <span class="soft">unknown</span>,
          <Time at={session.createdAt.getTime()} />,
          session.id === sessionId ? <Badge tone="good">here</Badge> : <SignOut of={session} />,
        ])}
      />
    </Card>
  )
}

function SignOut({ of: { id, userAgent } }: { of: OpenSession }) {
  return (
    <form method="post" action={`/settings/sessions/${id}/sign-out`}>
      <button type="submit" class="button quiet">
        Sign out<span class="visually-hidden"> {describeDevice(userAgent)}</span>
      </button>
    </form>
  )
}

export function DeleteCard(props: Answered & { email: string; hasPassword: boolean }) {
  const { email, hasPassword, refused } = props
  const code = refused?.refusal.code
  const fault = sentenceFor(refused, "delete")
  return (
    <Card title="Delete the account" id="delete">
      <p>
        Everything goes with it: keys are refused at once, jobs are canceled, files are deleted. It
        cannot be undone.
      </p>
      <form method="post" action="/settings/delete" class="form">
        {fault && code !== NAME_WRONG && code !== PASSWORD_WRONG && (
          <Notice tone="bad">{fault}</Notice>
        )}
        <Field
          label={`Type ${email} to confirm`}
          name="email"
          id="delete-email"
          type="email"
          required
          autocomplete="off"
          error={code === NAME_WRONG ? fault : null}
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
          <button
            type="submit"
            class="button danger"
            data-confirm="Delete the account with everything it owns?"
          >
            Delete the account
          </button>
        </div>
      </form>
    </Card>
  )
}

/** The code of a deletion whose email is not that of the account. */
export const NAME_WRONG = "EMAIL_DIFFERS"
const PASSWORD_WRONG = "INVALID_PASSWORD"

/** Codes that say something else here than in the pages of sign-in. */
const OWN_SENTENCES: Record<string, string> = {
  INVALID_EMAIL: "This is not an email address.",
  SESSION_EXPIRED: "You signed in a while ago: sign out, sign in again, and then delete.",
}

function sentenceFor(refused: Refused | null, form: Refused["form"]): string | null {
  if (refused?.form !== form) return null
  return OWN_SENTENCES[refused.refusal.code] ?? sentenceOf(refused.refusal)
}
