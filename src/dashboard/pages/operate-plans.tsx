import { Hono } from "hono"
import { notFound } from "../../http/problem.ts"
import { faultsOf } from "../../http/request.ts"
import { ownLimits, ownPlanName } from "../../pipeline/accounts/own-limits.ts"
import { changeLimits, createPlan, listPlans, removePlan } from "../../pipeline/accounts/plans.ts"
import type { ListedPlan } from "../../pipeline/accounts/plans.ts"
import type { OwnLimits } from "../../plans.ts"
import type { PageContext, Pages } from "../context.ts"
import { redirectWith } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { requireOperator } from "../operator.ts"
import { readForm } from "../read-form.ts"
import { draftOf, numbersOf } from "./operate-plans/draft.ts"
import type { PlanDraft } from "./operate-plans/draft.ts"
import { PlanForm } from "./operate-plans/plan-form.tsx"
import { OwnPlans, PlanTable } from "./operate-plans/plan-table.tsx"

const PATH = "/operate/plans"

/** The operator's pages of plans. */
export const operatePlans = new Hono<Pages>()

operatePlans.get(PATH, requireOperator, async (c) => {
  const plans = await listPlans(c.env)
  const facts = {
    title: "Plans",
    section: "plans" as const,
    lead: "What accounts may use. Settings of the service set the numbers of trial and paid.",
    actions: (
      <a class="button primary" href={`${PATH}/new`}>
        Make a plan
      </a>
    ),
  }
  const content = (
    <>
      <PlanTable plans={plans} />
      <OwnPlans plans={plans.filter(({ isBuiltIn }) => !isBuiltIn)} />
    </>
  )
  return await showPage(c, facts, content)
})

operatePlans.get(`${PATH}/new`, requireOperator, async (c) => {
  const plans = await listPlans(c.env)
  const like = plans.find(({ name }) => name === c.req.query("like")) ?? plans[0]
  return await showForm(c, null, { ...draftOf(like?.limits ?? null), name: "" }, [])
})

operatePlans.post(PATH, requireOperator, async (c) => {
  const draft = await readForm(c)
  const name = ownPlanName.safeParse(draft["name"])
  const limits = ownLimits.safeParse(numbersOf(draft))
  if (!name.success || !limits.success) {
    const ofName = name.error
      ? [{ field: "name", message: name.error.issues[0]?.message ?? "" }]
      : []
    return await showForm(c, null, draft, [
      ...ofName,
      ...(limits.error ? faultsOf(limits.error) : []),
    ])
  }
  if (!(await createPlan(c.env, name.data, limits.data))) {
    return await showForm(c, null, draft, [{ field: "name", message: "there is such a plan" }])
  }
  return redirectWith(c, PATH, `The plan ${name.data} is made.`)
})

operatePlans.get(`${PATH}/:name/change`, requireOperator, async (c) => {
  const plan = await findOwn(c)
  return await showForm(c, plan, draftOf(plan.limits), [])
})

operatePlans.post(`${PATH}/:name/change`, requireOperator, async (c) => {
  const plan = await findOwn(c)
  const draft = await readForm(c)
  const limits = ownLimits.safeParse(numbersOf(draft))
  if (!limits.success) return await showForm(c, plan, draft, faultsOf(limits.error))
  return await change(c, plan, limits.data)
})

operatePlans.post(`${PATH}/:name/delete`, requireOperator, async (c) => {
  const { name } = await findOwn(c)
  const outcome = await removePlan(c.env, name)
  if (outcome === "absent") throw notFound("plan")
  if (outcome === "removed") return redirectWith(c, PATH, `The plan ${name} is deleted.`)
  const message = `Accounts have the plan ${name}, or invitations name it: give them another first.`
  return redirectWith(c, PATH, message, "bad")
})

async function change(c: PageContext, { name }: ListedPlan, limits: OwnLimits): Promise<Response> {
  if (!(await changeLimits(c.env, name, limits))) throw notFound("plan")
  return redirectWith(c, PATH, `The plan ${name} is changed for all its accounts.`)
}

async function findOwn(c: PageContext): Promise<ListedPlan> {
  const plan = (await listPlans(c.env)).find(({ name }) => name === c.req.param("name"))
  if (!plan || plan.isBuiltIn) throw notFound("plan of your own")
  return plan
}

async function showForm(
  c: PageContext,
  plan: ListedPlan | null,
  draft: PlanDraft,
  faults: readonly { field: string; message: string }[],
): Promise<Response> {
  const facts = {
    title: plan ? `Change ${plan.name}` : "Make a plan",
    section: "plans" as const,
    status: faults.length === 0 ? (200 as const) : (422 as const),
  }
  return await showPage(c, facts, <PlanForm plan={plan} draft={draft} faults={faults} />)
}
