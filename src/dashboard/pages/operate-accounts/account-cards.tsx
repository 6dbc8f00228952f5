import type { AccountActivityOnDay, AccountOverview } from "../../../db/accounts/account-list.ts"
import { ActionForm, SubmitButton } from "../../components/buttons.tsx"
import { Badge, StatusBadge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { DescriptionList } from "../../components/description-list.tsx"
import { Field, Select } from "../../components/field.tsx"
import { formatBytes, formatCount } from "../../components/format.ts"
import { Table } from "../../components/table.tsx"
import { RelativeTime } from "../../components/time.tsx"

type AccountCardsProps = {
  account: AccountOverview
  days: readonly AccountActivityOnDay[]
  plans: readonly string[]
  /** Error messages of the submitted form, by field. */
  errors: { plan?: string; name?: string }
  /** Whether the account belongs to the operator who looks at the page. */
  isOwn: boolean
}

/**
 * Cards of an account: its properties, and forms that change the plan, suspend the account or
 * delete the account.
 */
export function AccountCards({ account, days, plans, errors, isOwn }: AccountCardsProps) {
  return (
    <>
      <div class="columns">
        <FactsCard account={account} />
        <PlanCard account={account} plans={plans} error={errors.plan} />
      </div>
      <DaysCard days={days} />
      {isOwn ? <OwnCard /> : <EndCard account={account} error={errors.name} />}
    </>
  )
}

function FactsCard({ account }: { account: AccountOverview }) {
  const { id, users, suspendedAt } = account
  return (
    <Card title="Account">
      <DescriptionList
        rows={[
          ["Id", <code>{id}</code>],
          ["Status", <StatusBadge status={suspendedAt === null ? "active" : "suspended"} />],
          ["Created", <RelativeTime at={account.createdAt} />],
          [
            "Users",
            users.length === 0 ? "none: only API keys use the account" : <Users of={users} />,
          ],
          ["Keys", formatCount(account.keyCount)],
          ["Stored", formatBytes(account.storageBytes)],
          ["Waiting jobs", formatCount(account.waitingJobs)],
          ["Running jobs", formatCount(account.runningJobs)],
          ["Jobs today", formatCount(account.jobsToday)],
        ]}
      />
    </Card>
  )
}

function Users({ of: users }: { of: AccountOverview["users"] }) {
  return (
    <>
      {users.map(({ email, isOperator }) => (
        <span>
          {email} {isOperator && <Badge tone="busy">operator</Badge>}
        </span>
      ))}
    </>
  )
}

function PlanCard(props: {
  account: AccountOverview
  plans: readonly string[]
  error: string | undefined
}) {
  const { account, plans, error } = props
  return (
    <Card title="Plan">
      <form method="post" action={`/operate/accounts/${account.id}/plan`} class="form">
        <Select
          label="Plan of the account"
          name="plan"
          options={plans}
          value={account.plan}
          error={error}
          hint={<a href="/operate/plans">Limits of all plans</a>}
        />
        <div class="actions">
          <SubmitButton tone="primary" text="Change the plan" />
        </div>
      </form>
    </Card>
  )
}

const DAY_COLUMNS = [
  "Day, UTC",
  { title: "Requests", isNumeric: true },
  { title: "Jobs", isNumeric: true },
  { title: "Failed jobs", isNumeric: true },
  { title: "Fetches", isNumeric: true },
] as const

function DaysCard({ days }: { days: readonly AccountActivityOnDay[] }) {
  return (
    <Card title="Usage">
      <Table
        caption="Use by day"
        columns={DAY_COLUMNS}
        rows={days.map(({ day, requests, jobs, failedJobs, fetches }) => [
          day,
          ...[requests, jobs, failedJobs, fetches].map(formatCount),
        ])}
        empty={
          <EmptyState title="No usage yet">
            <p>The table will show requests and jobs of the account.</p>
          </EmptyState>
        }
      />
    </Card>
  )
}

function OwnCard() {
  return (
    <Card title="Suspend or delete">
      <p class="soft">
        The account is your own. Only another operator can suspend or delete it here.
      </p>
    </Card>
  )
}

function EndCard({ account, error }: { account: AccountOverview; error: string | undefined }) {
  return (
    <div class="columns">
      {account.suspendedAt === null ? (
        <SuspendCard account={account} />
      ) : (
        <ResumeCard account={account} />
      )}
      <Card title="Delete">
        <p>
          Deletion refuses the keys and users of the account at once, cancels its open jobs and
          removes all its data. Deletion cannot be undone.
        </p>
        <form method="post" action={`/operate/accounts/${account.id}/delete`} class="form">
          <Field
            label="Name of the account, to confirm"
            name="name"
            required
            autocomplete="off"
            spellcheck={false}
            placeholder={account.name}
            error={error}
          />
          <div class="actions">
            <SubmitButton
              tone="danger"
              asks={`Delete ${account.name} and all its data?`}
              text="Delete the account"
            />
          </div>
        </form>
      </Card>
    </div>
  )
}

function SuspendCard({ account: { id, name } }: { account: AccountOverview }) {
  return (
    <Card title="Suspend">
      <p>
        Suspension refuses the keys and users of the account within a second. Accepted jobs continue
        and send their webhooks. Nothing is deleted.
      </p>
      <ActionForm
        action={`/operate/accounts/${id}/suspend`}
        tone="danger"
        asks={`Suspend ${name}?`}
        text="Suspend the account"
      />
    </Card>
  )
}

function ResumeCard({ account: { id, suspendedAt } }: { account: AccountOverview }) {
  return (
    <Card title="Suspended">
      <p>
        The keys and users of the account are refused; it was suspended{" "}
        <RelativeTime at={suspendedAt} />.
      </p>
      <ActionForm
        action={`/operate/accounts/${id}/resume`}
        tone="primary"
        text="Lift the suspension"
      />
    </Card>
  )
}
