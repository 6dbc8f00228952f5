import { MAILS_PER_HOUR_MAX } from "../../../accounts/mail/limited-mail.ts"
import type { MailOutcome } from "../../../accounts/mail/limited-mail.ts"
import { DEFAULT_PLAN } from "../../../domain/plans.ts"
import type { Invitation } from "../../../db/schema/users.ts"
import { ActionForm, SubmitButton } from "../../components/buttons.tsx"
import { Card } from "../../components/card.tsx"
import { CodeBlock } from "../../components/code-block.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { Field, Select } from "../../components/field.tsx"
import { Notice } from "../../components/notice.tsx"
import { Table } from "../../components/table.tsx"
import { RelativeTime } from "../../components/time.tsx"

/** Submitted values of the invitation form, and the error of the form. */
export type InvitationFormValues = { email: string; plan: string; error: string | null }

/** Notice about a new invitation with its link, which is shown only once. */
export function NewInvitationNotice({ email, link, mail }: InvitationResult) {
  return (
    <Notice tone={mail === "sent" ? "good" : "bad"}>
      <p>{SENTENCES[mail](email)}</p>
      <CodeBlock label="Link of the invitation" text={link} />
    </Notice>
  )
}

/** New invitation with its link, and whether the mail was sent. */
export type InvitationResult = { email: string; link: string; mail: MailOutcome }

const SENTENCES: Record<MailOutcome, (email: string) => string> = {
  sent: (email) =>
    `${email} is invited by mail. In case the mail does not arrive, store the link, which only this page shows:`,
  failed: (email) =>
    `${email} is invited, but the mail could not be sent; the log has the reason. Pass on the link, which only this page shows:`,
  limited: (email) =>
    `${email} is invited without a mail, because the address had ${MAILS_PER_HOUR_MAX.invitation} mails within an hour. Pass on the link, which only this page shows:`,
}

/** Form that invites an email address, and the table of pending invitations. */
export function InvitationCard(props: {
  invitations: readonly Invitation[]
  plans: readonly string[]
  draft: InvitationFormValues
}) {
  const { invitations, plans, draft } = props
  return (
    <Card title="Invitations">
      <form method="post" action="/operate/invitations" class="form">
        <div class="field-row">
          <Field
            label="Email"
            name="email"
            type="email"
            value={draft.email}
            required
            autocomplete="off"
            error={draft.error}
          />
          <Select
            label="Plan"
            name="plan"
            options={plans}
            value={draft.plan === "" ? DEFAULT_PLAN : draft.plan}
          />
        </div>
        <div class="actions">
          <SubmitButton tone="primary" text="Invite" />
        </div>
      </form>
      <Table
        caption="Open invitations"
        columns={["Email", "Plan", "Invited", "Expires", "Actions"]}
        rows={invitations.map(({ id, email, plan, createdAt, expiresAt }) => [
          email,
          plan,
          <RelativeTime at={createdAt} />,
          <RelativeTime at={expiresAt} />,
          <ActionForm
            action={`/operate/invitations/${id}/withdraw`}
            asks={`Withdraw the invitation of ${email}?`}
            text="Withdraw"
          />,
        ])}
        empty={
          <EmptyState title="No open invitations">
            <p>An invitation mails a link that creates the account.</p>
          </EmptyState>
        }
      />
    </Card>
  )
}
