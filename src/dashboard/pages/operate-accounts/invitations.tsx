import { MAILS_PER_HOUR } from "../../../pipeline/accounts/limited-mail.ts"
import type { MailOutcome } from "../../../pipeline/accounts/limited-mail.ts"
import { DEFAULT_PLAN } from "../../../plans.ts"
import type { Invitation } from "../../../storage/schema/users.ts"
import { Card } from "../../components/card.tsx"
import { CodeBlock } from "../../components/code-block.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { Field, Select } from "../../components/field.tsx"
import { Notice } from "../../components/notice.tsx"
import { Table } from "../../components/table.tsx"
import { Time } from "../../components/time.tsx"

/** Values of the form of an invitation, and their fault. */
export type InvitationDraft = { email: string; plan: string; error: string | null }

/** An invitation that was just made; its link is shown only now. */
export function NewInvitation({ email, link, mail }: MadeInvitation) {
  return (
    <Notice tone={mail === "sent" ? "good" : "bad"}>
      <p>{SENTENCES[mail](email)}</p>
      <CodeBlock label="Link of the invitation" text={link} />
    </Notice>
  )
}

export type MadeInvitation = { email: string; link: string; mail: MailOutcome }

const SENTENCES: Record<MailOutcome, (email: string) => string> = {
  sent: (email) =>
    `${email} is invited by a mail. Its link is shown only now, should the mail not arrive:`,
  failed: (email) =>
    `${email} is invited, and the mail could not be sent: the log says why. Pass on the link, which is shown only now:`,
  limited: (email) =>
    `${email} is invited without a mail: the address had ${MAILS_PER_HOUR.invitation} mails within an hour. Pass on the link, which is shown only now:`,
}

/** Invites by email, and shows who is invited and did not come yet. */
export function InvitationCard(props: {
  invitations: readonly Invitation[]
  plans: readonly string[]
  draft: InvitationDraft
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
          <button type="submit" class="button primary">
            Invite
          </button>
        </div>
      </form>
      <Table
        caption="Open invitations"
        columns={["Email", "Plan", "Invited", "Expires", "Actions"]}
        rows={invitations.map(({ id, email, plan, createdAt, expiresAt }) => [
          email,
          plan,
          <Time at={createdAt} />,
          <Time at={expiresAt} />,
          <form method="post" action={`/operate/invitations/${id}/withdraw`}>
            <button
              type="submit"
              class="button"
              data-confirm={`Withdraw the invitation of ${email}?`}
            >
              Withdraw
            </button>
          </form>,
        ])}
        empty={
          <EmptyState title="Nobody is invited">
            <p>Whoever is invited gets a mail with a link that makes the account.</p>
          </EmptyState>
        }
      />
    </Card>
  )
}
