import type { ListedPlan } from "../../../pipeline/accounts/plans.ts"
import { mapLimits, viewLimits } from "../../../plan-fields.ts"
import type { LimitName } from "../../../plan-fields.ts"
import { formatAmount } from "../../components/amount.ts"
import { Card } from "../../components/card.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { formatCount } from "../../components/format.ts"
import { Table } from "../../components/table.tsx"
import { Time } from "../../components/time.tsx"
import { titleInPlan } from "./title.ts"

const NAMES: readonly LimitName[] = Object.values(mapLimits((_, name) => name))

/** All plans side by side. */
export function PlanTable({ plans }: { plans: readonly ListedPlan[] }) {
  return (
    <Card title="All plans">
      <Table
        caption="Plans side by side"
        comparesColumns
        columns={["Limit", ...plans.map(({ name }) => ({ title: name, isNumeric: true as const }))]}
        rows={[
          ["Accounts", ...plans.map(({ accountCount }) => formatCount(accountCount))],
          ...NAMES.map((name) => [titleInPlan(name), ...plans.map((plan) => amountOf(plan, name))]),
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
  return formatAmount(name, viewLimits(limits)[name])
}

/** The operator's own plans, and what can be done with each. */
export function OwnPlans({ plans }: { plans: readonly ListedPlan[] }) {
  return (
    <Card title="Plans of your own">
      <Table
        caption="Plans of your own"
        columns={["Plan", { title: "Accounts", isNumeric: true }, "Changed", "Actions"]}
        rows={plans.map((plan) => [
          plan.name,
          formatCount(plan.accountCount),
          <Time at={plan.updatedAt} />,
          <PlanActions plan={plan} />,
        ])}
        empty={
          <EmptyState title="You have made no plan yet">
            <p>A plan of your own has numbers of its own, and accounts can be given it.</p>
          </EmptyState>
        }
      />
    </Card>
  )
}

function PlanActions({ plan: { name, accountCount } }: { plan: ListedPlan }) {
  return (
    <div class="actions">
      <a class="button" href={`/operate/plans/${name}/change`}>
        Change
      </a>
      <a class="button" href={`/operate/plans/new?like=${name}`}>
        Copy
      </a>
      {accountCount === 0 && (
        <form method="post" action={`/operate/plans/${name}/delete`}>
          <button type="submit" class="button danger" data-confirm={`Delete the plan ${name}?`}>
            Delete
          </button>
        </form>
      )}
    </div>
  )
}
