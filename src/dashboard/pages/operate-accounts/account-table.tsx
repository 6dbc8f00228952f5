import type { AccountFacts } from "../../../storage/account-list.ts"
import { StatusBadge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { Field } from "../../components/field.tsx"
import { formatBytes, formatCount } from "../../components/format.ts"
import { Table } from "../../components/table.tsx"
import { Time } from "../../components/time.tsx"

const COLUMNS = [
  "Account",
  "Status",
  "Plan",
  { title: "Stored", isNumeric: true },
  { title: "Open jobs", isNumeric: true },
  { title: "Jobs today", isNumeric: true },
  "Created",
] as const

/** Accounts, with a form to search them. */
export function AccountTable(props: { accounts: readonly AccountFacts[]; search: string }) {
  const { accounts, search } = props
  return (
    <Card>
      <form method="get" action="/operate/accounts" role="search">
        <Field
          label="Search"
          name="search"
          type="search"
          value={search}
          maxlength={200}
          placeholder="Part of a name or an email"
        />
      </form>
      <Table
        caption="Accounts"
        columns={COLUMNS}
        rows={accounts.map(rowOf)}
        empty={<NoAccounts search={search} />}
      />
    </Card>
  )
}

function rowOf(account: AccountFacts) {
  return [
    <AccountName account={account} />,
    <StatusBadge status={account.suspendedAt === null ? "active" : "suspended"} />,
    account.plan,
    formatBytes(account.storageBytes),
    formatCount(account.waitingJobs + account.runningJobs),
    formatCount(account.jobsToday),
    <Time at={account.createdAt} />,
  ]
}

function AccountName({ account: { id, name, users } }: { account: AccountFacts }) {
  const others = users.map(({ email }) => email).filter((email) => email !== name)
  return (
    <>
      <a href={`/operate/accounts/${id}`}>{name}</a>
      {others.length > 0 && <span class="hint">{others.join(", ")}</span>}
    </>
  )
}

function NoAccounts({ search }: { search: string }) {
  if (search === "") {
    return (
      <EmptyState title="There are no accounts yet">
        <p>Invite somebody below, or make one with a key by npm run keys.</p>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No account is found">
      <p>
        <a href="/operate/accounts">Show all accounts</a>
      </p>
    </EmptyState>
  )
}
