import type { AccountDay, AccountFacts } from "../../../storage/account-list.ts"
import { Badge, StatusBadge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { Facts } from "../../components/facts.tsx"
import { Field, Select } from "../../components/field.tsx"
import { formatBytes, formatCount } from "../../components/format.ts"
import { Table } from "../../components/table.tsx"
import { Time } from "../../components/time.tsx"

type Shown = {
  account: AccountFacts
  days: readonly AccountDay[]
  plans: readonly string[]
  /** What is wrong with what a form sent. */
  errors: { plan?: string; name?: string }
  /** Whether it is the account of who looks at it. */
  isOwn: boolean
}

/** What an operator knows of an account and does with it. */
export function AccountCards({ account, days, plans, errors, isOwn }: Shown) {
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

function FactsCard({ account }: { account: AccountFacts }) {
  const { id, users, suspendedAt } = account
  return (
    <Card title="Account">
      <Facts
        rows={[
          ["Id", <code>{id}</code>],
          ["Status", <StatusBadge status={suspendedAt === null ? "active" : "suspended"} />],
          ["Created", <Time at={account.createdAt} />],
          [
            "Users",
            users.length === 0 ? "none: it is used by its keys alone" : <Users of={users} />,
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

function Users({ of: users }: { of: AccountFacts["users"] }) {
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
  account: AccountFacts
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
          hint={<a href="/operate/plans">What each plan allows</a>}
        />
        <div class="actions">
          <button type="submit" class="button primary">
            Change the plan
          </button>
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

function DaysCard({ days }: { days: readonly AccountDay[] }) {
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
          <EmptyState title="It was not used yet">
            <p>Its requests and jobs are counted here from the first one on.</p>
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
        This is your own account, which only another operator may suspend or delete here.
      </p>
    </Card>
  )
}

function EndCard({ account, error }: { account: AccountFacts; error: string | undefined }) {
  return (
    <div class="columns">
      {account.suspendedAt === null ? (
        <SuspendCard account={account} />
      ) : (
        <ResumeCard account={account} />
      )}
      <Card title="Delete">
        <p>
          Its keys and users are refused at once, open jobs are canceled, and all that it stores is
          removed. This cannot be undone.
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
            <button
              type="submit"
              class="button danger"
              data-confirm={`Delete ${account.name} with everything it owns?`}
            >
              Delete the account
            </button>
          </div>
        </form>
      </Card>
    </div>
  )
}

function SuspendCard({ account: { id, name } }: { account: AccountFacts }) {
  return (
    <Card title="Suspend">
      <p>
        Its keys and users are refused within a second. Jobs that were accepted go on, and their
        webhooks go out. Nothing is deleted.
      </p>
      <form method="post" action={`/operate/accounts/${id}/suspend`}>
        <button type="submit" class="button danger" data-confirm={`Suspend ${name}?`}>
          Suspend the account
        </button>
      </form>
    </Card>
  )
}

function ResumeCard({ account: { id, suspendedAt } }: { account: AccountFacts }) {
  return (
    <Card title="Suspended">
      <p>
        Its keys and users are refused; it was suspended <Time at={suspendedAt} />.
      </p>
      <form method="post" action={`/operate/accounts/${id}/resume`}>
        <button type="submit" class="button primary">
          Lift the suspension
        </button>
      </form>
    </Card>
  )
}
