import { DEFAULT_PLAN } from "../../../plans.ts"
import type { Invitation } from "../../../storage/schema/users.ts"
import { Card } from "../../components/card.tsx"
import { CodeBlock } from "../../components/code-block.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { Field, Select } from "../../components/field.tsx"
import { Notice } from "../../components/notice.tsx"
import { Table } from "../../components/table.tsx"
import { Time } from "../../components/time.tsx"

/** What the form of an invitation sent, what is wrong with it, or the link that it made. */
export type InvitationDraft = {
  email: string
  plan: string
  error: string | null
  link: string | null
}

/** An invitation that was just made; its link is shown only now. */
export function NewInvitation({ email, link }: { email: string; link: string }) {
  return (
    <Notice tone="good">
      <p>{email} is invited by a mail. Its link is shown only now, should the mail not arrive:</p>
      <CodeBlock label="Link of the invitation" text={link} />
    </Notice>
  )
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
