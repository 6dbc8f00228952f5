import { Hono } from "hono"
import { z } from "zod"
import { notFoundProblem } from "../../api/output/problem.ts"
import { getPublicOrigin } from "../../api/input/request.ts"
import { beginAccountDeletion } from "../../accounts/deletion.ts"
import {
  inviteUser,
  listPendingInvitations,
  withdrawInvitation,
} from "../../accounts/invitations.ts"
import { assignPlanByAccountId } from "../../accounts/assign-plan.ts"
import { planExists, listPlanNames } from "../../accounts/manage-plans.ts"
import { resumeAccount, suspendAccount } from "../../accounts/suspension.ts"
import { findAccount, listDailyActivity, listAccounts } from "../../db/accounts/account-list.ts"
import type { AccountOverview } from "../../db/accounts/account-list.ts"
import { openAccountDatabases } from "../../db/database.ts"
import { Pager } from "../components/pager.tsx"
import type { PageContext, PageEnv } from "../context.ts"
import { redirectWithMessage } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { requireOperator } from "../operator.ts"
import { readFormFields } from "../read-form.ts"
import { AccountCards } from "./operate-accounts/account-cards.tsx"
import { InvitationCard, NewInvitationNotice } from "./operate-accounts/invitations.tsx"
import type { InvitationFormValues, InvitationResult } from "./operate-accounts/invitations.tsx"
import { StatusBadge } from "../components/badge.tsx"
import { Card } from "../components/card.tsx"
import { EmptyState } from "../components/empty-state.tsx"
import { Field } from "../components/field.tsx"
import { formatBytes, formatCount } from "../components/format.ts"
import { Table } from "../components/table.tsx"
import { RelativeTime } from "../components/time.tsx"

const ACCOUNTS_OF_PAGE = 50
const DAYS_SHOWN = 14
const NOTHING: InvitationFormValues = { email: "", plan: "", error: null }
const OWN = "The account is your own; ask another operator to change it."

/** Operator's pages of accounts and invitations. */
export const operatorAccountPages = new Hono<PageEnv>()

operatorAccountPages.get(
  "/operate/accounts",
  requireOperator,
  async (c) => await showList(c, NOTHING),
)

operatorAccountPages.post("/operate/invitations", requireOperator, async (c) => {
  const { email = "", plan = "" } = await readFormFields(c)
  const draft = { email: email.trim(), plan, error: null }
  if (!z.email().safeParse(draft.email).success) {
    return await showList(c, { ...draft, error: "expected an email address" })
  }
  if (!(await planExists(c.env, plan)))
    return await showList(c, { ...draft, error: "unknown plan" })
  const newInvitation = await inviteUser(c.env, getPublicOrigin(c), { email: draft.email, plan })
  if (!newInvitation)
    return await showList(c, { ...draft, error: "another user has this email address" })
  const { invitation, link, mail } = newInvitation
  return await showList(c, NOTHING, { email: invitation.email, link, mail })
})

operatorAccountPages.post("/operate/invitations/:id/withdraw", requireOperator, async (c) => {
  if (!(await withdrawInvitation(c.env, c.req.param("id")))) throw notFoundProblem("invitation")
  return redirectWithMessage(
    c,
    "/operate/accounts",
    "The invitation is withdrawn and its link is invalid.",
  )
})

operatorAccountPages.get(
  "/operate/accounts/:id",
  requireOperator,
  async (c) => await showAccount(c, await find(c)),
)

operatorAccountPages.post("/operate/accounts/:id/plan", requireOperator, async (c) => {
  const account = await find(c)
  const { plan = "" } = await readFormFields(c)
  if (!(await planExists(c.env, plan)))
    return await showAccount(c, account, { plan: "unknown plan" })
  if (!(await assignPlanByAccountId(c.env, account.id, plan))) throw notFoundProblem("account")
  return redirectWithMessage(c, pathOf(account), `The account has the plan ${plan}.`)
})

operatorAccountPages.post("/operate/accounts/:id/suspend", requireOperator, async (c) => {
  const account = await find(c)
  if (isOwn(c, account)) return redirectWithMessage(c, pathOf(account), OWN, "bad")
  if (!(await suspendAccount(c.env, account.id))) throw notFoundProblem("account")
  return redirectWithMessage(
    c,
    pathOf(account),
    "The account is suspended and refused from now on.",
  )
})

operatorAccountPages.post("/operate/accounts/:id/resume", requireOperator, async (c) => {
  const account = await find(c)
  if (!(await resumeAccount(c.env, account.id))) throw notFoundProblem("account")
  return redirectWithMessage(c, pathOf(account), "The suspension is lifted.")
})

operatorAccountPages.post("/operate/accounts/:id/delete", requireOperator, async (c) => {
  const account = await find(c)
  if (isOwn(c, account)) return redirectWithMessage(c, pathOf(account), OWN, "bad")
  const { name = "" } = await readFormFields(c)
  if (name.trim() !== account.name) {
    return await showAccount(c, account, { name: "expected the name of the account" })
  }
  if (!(await beginAccountDeletion(c.env, account.id))) throw notFoundProblem("account")
  return redirectWithMessage(c, "/operate/accounts", `${account.name} is being deleted.`)
})

function pathOf({ id }: AccountOverview): `/${string}` {
  return `/operate/accounts/${id}`
}

function isOwn(c: PageContext, { id }: AccountOverview): boolean {
  return c.get("signedIn").account.id === id
}

async function find(c: PageContext): Promise<AccountOverview> {
  const account = await findAccount(c.env, c.req.param("id") ?? "", Date.now())
  if (!account) throw notFoundProblem("account")
  return account
}

async function showList(
  c: PageContext,
  draft: InvitationFormValues,
  invitation?: InvitationResult,
): Promise<Response> {
  const { search = "", before } = c.req.query()
  const page = { limit: ACCOUNTS_OF_PAGE, search: search.trim(), before }
  const [accounts, invitations, plans] = await Promise.all([
    listAccounts(c.env, page, Date.now()),
    listPendingInvitations(c.env),
    listPlanNames(c.env),
  ])
  const last = accounts.length === ACCOUNTS_OF_PAGE ? accounts.at(-1) : undefined
  const next = last && new URLSearchParams({ search, before: last.id })
  const facts = {
    title: "Accounts",
    section: "accounts" as const,
    lead: "Accounts of this service, and open invitations.",
    status: draft.error === null ? (200 as const) : (422 as const),
  }
  const content = (
    <>
      {invitation && <NewInvitationNotice {...invitation} />}
      <AccountTable accounts={accounts} search={search} />
      <Pager next={next ? `/operate/accounts?${next.toString()}` : null} />
      <InvitationCard invitations={invitations} plans={plans} draft={draft} />
    </>
  )
  return await showPage(c, facts, content)
}

async function showAccount(
  c: PageContext,
  account: AccountOverview,
  errors: { plan?: string; name?: string } = {},
): Promise<Response> {
  const [days, plans] = await Promise.all([
    listDailyActivity(openAccountDatabases(c.env, account.id), DAYS_SHOWN),
    listPlanNames(c.env),
  ])
  const facts = {
    title: account.name,
    section: "accounts" as const,
    status: Object.keys(errors).length === 0 ? (200 as const) : (422 as const),
  }
  const props = { account, days, plans, errors, isOwn: isOwn(c, account) }
  return await showPage(c, facts, <AccountCards {...props} />)
}

const COLUMNS = [
  "Account",
  "Status",
  "Plan",
  { title: "Stored", isNumeric: true },
  { title: "Open jobs", isNumeric: true },
  { title: "Jobs today", isNumeric: true },
  "Created",
] as const

/** Table of accounts with a search form. */
function AccountTable(props: { accounts: readonly AccountOverview[]; search: string }) {
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

function rowOf(account: AccountOverview) {
  return [
    <AccountName account={account} />,
    <StatusBadge status={account.suspendedAt === null ? "active" : "suspended"} />,
    account.plan,
    formatBytes(account.storageBytes),
    formatCount(account.waitingJobs + account.runningJobs),
    formatCount(account.jobsToday),
    <RelativeTime at={account.createdAt} />,
  ]
}

function AccountName({ account: { id, name, users } }: { account: AccountOverview }) {
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
      <EmptyState title="No accounts yet">
        <p>Invite a user below, or create an account with a key by npm run keys.</p>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No account matches">
      <p>
        <a href="/operate/accounts">Show all accounts</a>
      </p>
    </EmptyState>
  )
}
