import { Hono } from "hono"
import { notFoundProblem } from "../../api/output/problem.ts"
import { zodErrorToFaults } from "../../api/input/request.ts"
import {
  operatorPlanLimitsSchema,
  operatorPlanNameSchema,
} from "../../accounts/operator-plan-limits.ts"
import { changePlanLimits, createPlan, listPlans, removePlan } from "../../accounts/manage-plans.ts"
import type { ListedPlan } from "../../accounts/manage-plans.ts"
import type { OperatorPlanLimits } from "../../domain/plans.ts"
import type { PageContext, PageEnv } from "../context.ts"
import { redirectWithMessage } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { requireOperator } from "../operator.ts"
import { readFormFields } from "../read-form.ts"
import {
  toPlanFormValues,
  parsePlanNumbers,
  PlanForm,
  planLimitTitle,
} from "./operate-plans/plan-form.tsx"
import type { PlanFormValues } from "./operate-plans/plan-form.tsx"
import { buildLimitRecord, toPublicLimits } from "../../domain/plan-fields.ts"
import type { LimitName } from "../../domain/plan-fields.ts"
import { formatLimitAmount, formatCount } from "../components/format.ts"
import { ActionForm, LinkButton } from "../components/buttons.tsx"
import { Card } from "../components/card.tsx"
import { EmptyState } from "../components/empty-state.tsx"
import { Table } from "../components/table.tsx"
import { RelativeTime } from "../components/time.tsx"

const PATH = "/operate/plans"

/** Operator's pages of plans. */
export const operatorPlanPages = new Hono<PageEnv>()

operatorPlanPages.get(PATH, requireOperator, async (c) => {
  const plans = await listPlans(c.env)
  const facts = {
    title: "Plans",
    section: "plans" as const,
    lead: "Limits of accounts. Settings of the service set the limits of trial and paid.",
    actions: <LinkButton to={`${PATH}/new`} tone="primary" text="Create a plan" />,
  }
  const content = (
    <>
      <PlanTable plans={plans} />
      <OwnPlans plans={plans.filter(({ isBuiltIn }) => !isBuiltIn)} />
    </>
  )
  return await showPage(c, facts, content)
})

operatorPlanPages.get(`${PATH}/new`, requireOperator, async (c) => {
  const plans = await listPlans(c.env)
  const like = plans.find(({ name }) => name === c.req.query("like")) ?? plans[0]
  return await showForm(c, null, { ...toPlanFormValues(like?.limits ?? null), name: "" }, [])
})

operatorPlanPages.post(PATH, requireOperator, async (c) => {
  const draft = await readFormFields(c)
  const name = operatorPlanNameSchema.safeParse(draft["name"])
  const limits = operatorPlanLimitsSchema.safeParse(parsePlanNumbers(draft))
  if (!name.success || !limits.success) {
    const ofName = name.error
      ? [{ field: "name", message: name.error.issues[0]?.message ?? "" }]
      : []
    return await showForm(c, null, draft, [
      ...ofName,
      ...(limits.error ? zodErrorToFaults(limits.error) : []),
    ])
  }
  if (!(await createPlan(c.env, name.data, limits.data))) {
    return await showForm(c, null, draft, [
      { field: "name", message: "a plan has this name; choose another" },
    ])
  }
  return redirectWithMessage(c, PATH, `The plan ${name.data} is created.`)
})

operatorPlanPages.get(`${PATH}/:name/change`, requireOperator, async (c) => {
  const plan = await findOwn(c)
  return await showForm(c, plan, toPlanFormValues(plan.limits), [])
})

operatorPlanPages.post(`${PATH}/:name/change`, requireOperator, async (c) => {
  const plan = await findOwn(c)
  const draft = await readFormFields(c)
  const limits = operatorPlanLimitsSchema.safeParse(parsePlanNumbers(draft))
  if (!limits.success) return await showForm(c, plan, draft, zodErrorToFaults(limits.error))
  return await change(c, plan, limits.data)
})

operatorPlanPages.post(`${PATH}/:name/delete`, requireOperator, async (c) => {
  const { name } = await findOwn(c)
  const outcome = await removePlan(c.env, name)
  if (outcome === "absent") throw notFoundProblem("plan")
  if (outcome === "removed") return redirectWithMessage(c, PATH, `The plan ${name} is deleted.`)
  const message = `Accounts or invitations use the plan ${name}; give them another plan first.`
  return redirectWithMessage(c, PATH, message, "bad")
})

async function change(
  c: PageContext,
  { name }: ListedPlan,
  limits: OperatorPlanLimits,
): Promise<Response> {
  if (!(await changePlanLimits(c.env, name, limits))) throw notFoundProblem("plan")
  return redirectWithMessage(c, PATH, `The plan ${name} is changed for all its accounts.`)
}

async function findOwn(c: PageContext): Promise<ListedPlan> {
  const plan = (await listPlans(c.env)).find(({ name }) => name === c.req.param("name"))
  if (!plan || plan.isBuiltIn) throw notFoundProblem("custom plan")
  return plan
}

async function showForm(
  c: PageContext,
  plan: ListedPlan | null,
  draft: PlanFormValues,
  faults: readonly { field: string; message: string }[],
): Promise<Response> {
  const facts = {
    title: plan ? `Change ${plan.name}` : "Create a plan",
    section: "plans" as const,
    status: faults.length === 0 ? (200 as const) : (422 as const),
  }
  return await showPage(c, facts, <PlanForm plan={plan} draft={draft} faults={faults} />)
}

const NAMES: readonly LimitName[] = Object.values(buildLimitRecord((_, name) => name))

/** Table of all plans with one column for each plan. */
function PlanTable({ plans }: { plans: readonly ListedPlan[] }) {
  return (
    <Card title="All plans">
      <Table
        caption="Plans side by side"
        comparesColumns
        columns={["Limit", ...plans.map(({ name }) => ({ title: name, isNumeric: true as const }))]}
        rows={[
          ["Accounts", ...plans.map(({ accountCount }) => formatCount(accountCount))],
          ...NAMES.map((name) => [
            planLimitTitle(name),
            ...plans.map((plan) => amountOf(plan, name)),
          ]),
          [
            "Share of runners",
            ...plans.map(({ limits }) => `${formatCount(limits.slotsShareMax * 100)} %`),
          ],
        ]}
      />
    </Card>
  )
}

function amountOf({ limits }: ListedPlan, name: LimitName): string {
  return formatLimitAmount(name, toPublicLimits(limits)[name])
}

/** Table of the operator's plans, with buttons to change, copy and delete each plan. */
function OwnPlans({ plans }: { plans: readonly ListedPlan[] }) {
  return (
    <Card title="Custom plans">
      <Table
        caption="Custom plans"
        columns={["Plan", { title: "Accounts", isNumeric: true }, "Changed", "Actions"]}
        rows={plans.map((plan) => [
          plan.name,
          formatCount(plan.accountCount),
          <RelativeTime at={plan.updatedAt} />,
          <PlanActions plan={plan} />,
        ])}
        empty={
          <EmptyState title="No custom plans yet">
            <p>A custom plan has its own limits, and you can give it to accounts.</p>
          </EmptyState>
        }
      />
    </Card>
  )
}

function PlanActions({ plan: { name, accountCount } }: { plan: ListedPlan }) {
  return (
    <div class="actions">
      <LinkButton to={`/operate/plans/${name}/change`} text="Change" />
      <LinkButton to={`/operate/plans/new?like=${name}`} text="Copy" />
      {accountCount === 0 && (
        <ActionForm
          action={`/operate/plans/${name}/delete`}
          tone="danger"
          asks={`Delete the plan ${name}?`}
          text="Delete"
        />
      )}
    </div>
  )
}
