import { Hono } from "hono"
import { z } from "zod"
import { notFound } from "../../http/problem.ts"
import { publicOrigin } from "../../http/request.ts"
import { deleteAccount } from "../../pipeline/accounts/deletion.ts"
import {
  inviteUser,
  listInvitations,
  withdrawInvitation,
} from "../../pipeline/accounts/invitations.ts"
import { changePlanOf } from "../../pipeline/accounts/plan.ts"
import { isPlan, listPlanNames } from "../../pipeline/accounts/plans.ts"
import { resumeAccount, suspendAccount } from "../../pipeline/accounts/suspension.ts"
import { findAccount, listAccountDays, listAccounts } from "../../storage/account-list.ts"
import type { AccountFacts } from "../../storage/account-list.ts"
import { databaseOf } from "../../storage/database.ts"
import { Pager } from "../components/pager.tsx"
import type { PageContext, Pages } from "../context.ts"
import { redirectWith } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { requireOperator } from "../operator.ts"
import { readForm } from "../read-form.ts"
import { AccountTable } from "./operate-accounts/account-table.tsx"
import { AccountCards } from "./operate-accounts/account-cards.tsx"
import { InvitationCard, NewInvitation } from "./operate-accounts/invitations.tsx"
import type { InvitationDraft, MadeInvitation } from "./operate-accounts/invitations.tsx"

const ACCOUNTS_OF_PAGE = 50
const DAYS_SHOWN = 14
const NOTHING: InvitationDraft = { email: "", plan: "", error: null }
const OWN = "This is your own account: another operator has to do that."

/** The operator's pages of accounts and invitations. */
export const operateAccounts = new Hono<Pages>()

operateAccounts.get("/operate/accounts", requireOperator, async (c) => await showList(c, NOTHING))

operateAccounts.post("/operate/invitations", requireOperator, async (c) => {
  const { email = "", plan = "" } = await readForm(c)
  const draft = { email: email.trim(), plan, error: null }
  if (!z.email().safeParse(draft.email).success) {
    return await showList(c, { ...draft, error: "expected an email address" })
  }
  if (!(await isPlan(c.env, plan))) return await showList(c, { ...draft, error: "no such plan" })
  const made = await inviteUser(c.env, publicOrigin(c), { email: draft.email, plan })
  if (!made) return await showList(c, { ...draft, error: "a user has this address already" })
  const { invitation, link, mail } = made
  return await showList(c, NOTHING, { email: invitation.email, link, mail })
})

operateAccounts.post("/operate/invitations/:id/withdraw", requireOperator, async (c) => {
  if (!(await withdrawInvitation(c.env, c.req.param("id")))) throw notFound("invitation")
  return redirectWith(c, "/operate/accounts", "The invitation is withdrawn: its link is void.")
})

operateAccounts.get(
  "/operate/accounts/:id",
  requireOperator,
  async (c) => await showAccount(c, await find(c)),
)

operateAccounts.post("/operate/accounts/:id/plan", requireOperator, async (c) => {
  const account = await find(c)
  const { plan = "" } = await readForm(c)
  if (!(await isPlan(c.env, plan))) return await showAccount(c, account, { plan: "no such plan" })
  if (!(await changePlanOf(c.env, account.id, plan))) throw notFound("account")
  return redirectWith(c, pathOf(account), `The account has the plan ${plan}.`)
})

operateAccounts.post("/operate/accounts/:id/suspend", requireOperator, async (c) => {
  const account = await find(c)
  if (isOwn(c, account)) return redirectWith(c, pathOf(account), OWN, "bad")
  if (!(await suspendAccount(c.env, account.id))) throw notFound("account")
  return redirectWith(c, pathOf(account), "The account is suspended: it is refused from now on.")
})

operateAccounts.post("/operate/accounts/:id/resume", requireOperator, async (c) => {
  const account = await find(c)
  if (!(await resumeAccount(c.env, account.id))) throw notFound("account")
  return redirectWith(c, pathOf(account), "The suspension is lifted.")
})

operateAccounts.post("/operate/accounts/:id/delete", requireOperator, async (c) => {
  const account = await find(c)
  if (isOwn(c, account)) return redirectWith(c, pathOf(account), OWN, "bad")
  const { name = "" } = await readForm(c)
  if (name.trim() !== account.name) {
    return await showAccount(c, account, { name: "this is not the account's name" })
  }
  if (!(await deleteAccount(c.env, account.id))) throw notFound("account")
  return redirectWith(c, "/operate/accounts", `${account.name} is being deleted.`)
})

function pathOf({ id }: AccountFacts): `/${string}` {
  return `/operate/accounts/${id}`
}

function isOwn(c: PageContext, { id }: AccountFacts): boolean {
  return c.get("signedIn").account.id === id
}

async function find(c: PageContext): Promise<AccountFacts> {
  const account = await findAccount(c.env, c.req.param("id") ?? "", Date.now())
  if (!account) throw notFound("account")
  return account
}

async function showList(
  c: PageContext,
  draft: InvitationDraft,
  made?: MadeInvitation,
): Promise<Response> {
  const { search = "", before } = c.req.query()
  const page = { limit: ACCOUNTS_OF_PAGE, search: search.trim(), before }
  const [accounts, invitations, plans] = await Promise.all([
    listAccounts(c.env, page, Date.now()),
    listInvitations(c.env),
    listPlanNames(c.env),
  ])
  const last = accounts.length === ACCOUNTS_OF_PAGE ? accounts.at(-1) : undefined
  const next = last && new URLSearchParams({ search, before: last.id })
  const facts = {
    title: "Accounts",
    section: "accounts" as const,
    lead: "Who uses this service, and who is invited to.",
    status: draft.error === null ? (200 as const) : (422 as const),
  }
  const content = (
    <>
      {made && <NewInvitation {...made} />}
      <AccountTable accounts={accounts} search={search} />
      <Pager next={next ? `/operate/accounts?${next.toString()}` : null} />
      <InvitationCard invitations={invitations} plans={plans} draft={draft} />
    </>
  )
  return await showPage(c, facts, content)
}

async function showAccount(
  c: PageContext,
  account: AccountFacts,
  errors: { plan?: string; name?: string } = {},
): Promise<Response> {
  const [days, plans] = await Promise.all([
    listAccountDays(databaseOf(c.env, account.id), DAYS_SHOWN),
    listPlanNames(c.env),
  ])
  const facts = {
    title: account.name,
    section: "accounts" as const,
    status: Object.keys(errors).length === 0 ? (200 as const) : (422 as const),
  }
  const shown = { account, days, plans, errors, isOwn: isOwn(c, account) }
  return await showPage(c, facts, <AccountCards {...shown} />)
}
