import { LIMIT_BOUNDS } from "../../../pipeline/accounts/own-limits.ts"
import type { ListedPlan } from "../../../pipeline/accounts/plans.ts"
import { LIMIT_FIELDS, mapLimits } from "../../../plan-fields.ts"
import type { LimitName } from "../../../plan-fields.ts"
import { Card } from "../../components/card.tsx"
import { Field } from "../../components/field.tsx"
import { formatBytes } from "../../components/format.ts"
import { Notice } from "../../components/notice.tsx"
import { isInGb } from "./draft.ts"
import type { PlanDraft } from "./draft.ts"
import { titleInPlan } from "./title.ts"

type Fault = { field: string; message: string }

const NAMES: readonly LimitName[] = Object.values(mapLimits((_, name) => name))

/** The form of a new plan, or of one that is changed, again with its faults where it was refused. */
export function PlanForm(props: {
  plan: ListedPlan | null
  draft: PlanDraft
  faults: readonly Fault[]
}) {
  const { plan, draft, faults } = props
  const errors = new Map(faults.map(({ field, message }) => [field, message]))
  return (
    <Card>
      <form
        method="post"
        action={plan ? `/operate/plans/${plan.name}/change` : "/operate/plans"}
        class="form"
      >
        {plan && plan.accountCount > 0 && (
          <Notice tone="busy">{countAccounts(plan.accountCount)} the new numbers at once.</Notice>
        )}
        {!plan && <NameField draft={draft} error={errors.get("name")} />}
        {NAMES.map((name) => (
          <LimitInput name={name} draft={draft} isWrong={errors.has(name)} />
        ))}
        <Field
          label="Share of runners, in percent"
          name="slots_share"
          type="number"
          min={0}
          max={100}
          step="any"
          value={draft["slots_share"]}
          required
          hint="Of a pool's places, while other accounts want some."
          error={errors.has("slots_share") ? "expected a number from 0 to 100" : null}
        />
        <div class="actions">
          <button type="submit" class="button primary">
            {plan ? "Change the plan" : "Make the plan"}
          </button>
          <a class="button" href="/operate/plans">
            Cancel
          </a>
        </div>
      </form>
    </Card>
  )
}

function NameField({ draft, error }: { draft: PlanDraft; error: string | undefined }) {
  return (
    <Field
      label="Name"
      name="name"
      value={draft["name"]}
      required
      maxlength={40}
      pattern="[a-z0-9\-]+"
      autocomplete="off"
      spellcheck={false}
      placeholder="studio"
      hint="Small letters, digits and hyphens; people see it on their pages."
      error={error}
    />
  )
}

function LimitInput(props: { name: LimitName; draft: PlanDraft; isWrong: boolean }) {
  const { name, draft, isWrong } = props
  const [min, max] = LIMIT_BOUNDS[name]
  return (
    <Field
      label={labelOf(name)}
      name={name}
      type="number"
      min={isInGb(name) ? 0 : min}
      step={isInGb(name) ? "any" : 1}
      value={draft[name]}
      required
      hint={LIMIT_FIELDS[name].meaning}
      error={isWrong ? describeBounds(name, min, max) : null}
    />
  )
}

function labelOf(name: LimitName): string {
  if (isInGb(name)) return `${titleInPlan(name)}, in GB`
  return LIMIT_FIELDS[name].unit === "seconds"
    ? `${titleInPlan(name)}, in seconds`
    : titleInPlan(name)
}

function describeBounds(name: LimitName, min: number, max: number): string {
  if (isInGb(name)) return `expected a number of GB above 0, up to ${formatBytes(max)}`
  return `expected a whole number from ${min} to ${max}`
}

function countAccounts(count: number): string {
  return count === 1 ? "1 account has" : `${count} accounts have`
}
