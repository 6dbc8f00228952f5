import { OPERATOR_PLAN_LIMIT_RANGES } from "../../../accounts/operator-plan-limits.ts"
import type { ListedPlan } from "../../../accounts/manage-plans.ts"
import { LIMIT_FIELDS, buildLimitRecord, toPublicLimits } from "../../../domain/plan-fields.ts"
import type { LimitName } from "../../../domain/plan-fields.ts"
import { LinkButton, SubmitButton } from "../../components/buttons.tsx"
import { Card } from "../../components/card.tsx"
import { Field } from "../../components/field.tsx"
import { formatBytes, getUsageLimitTitle } from "../../components/format.ts"
import { Notice } from "../../components/notice.tsx"
import type { PlanLimits } from "../../../domain/plans.ts"

type Fault = { field: string; message: string }

const NAMES: readonly LimitName[] = Object.values(buildLimitRecord((_, name) => name))

/**
 * Form that creates or changes a plan. After an error, the form shows the submitted values with
 * their errors.
 */
export function PlanForm(props: {
  plan: ListedPlan | null
  draft: PlanFormValues
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
          <Notice tone="busy">
            The new limits apply at once to {countAccounts(plan.accountCount)}.
          </Notice>
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
          hint="Largest share of a pool's slots while other accounts wait."
          error={errors.has("slots_share") ? "expected a number from 0 to 100" : null}
        />
        <div class="actions">
          <SubmitButton tone="primary">{plan ? "Change the plan" : "Create the plan"}</SubmitButton>
          <LinkButton to="/operate/plans" text="Cancel" />
        </div>
      </form>
    </Card>
  )
}

function NameField({ draft, error }: { draft: PlanFormValues; error: string | undefined }) {
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
      hint="Lowercase letters, digits and hyphens. Users see the name."
      error={error}
    />
  )
}

function LimitInput(props: { name: LimitName; draft: PlanFormValues; isWrong: boolean }) {
  const { name, draft, isWrong } = props
  const [min, max] = OPERATOR_PLAN_LIMIT_RANGES[name]
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
  if (isInGb(name)) return `${planLimitTitle(name)}, in GB`
  return LIMIT_FIELDS[name].unit === "seconds"
    ? `${planLimitTitle(name)}, in seconds`
    : planLimitTitle(name)
}

function describeBounds(name: LimitName, min: number, max: number): string {
  if (isInGb(name)) return `expected a number of GB above 0, up to ${formatBytes(max)}`
  return `expected a whole number from ${min} to ${max}`
}

function countAccounts(count: number): string {
  return count === 1 ? "1 account" : `${count} accounts`
}

/** Returns the title of a limit on the plan pages, which show no usage. */
export function planLimitTitle(name: LimitName): string {
  if (name === "requests_per_minute") return "Requests a minute"
  return name === "fetches_per_day" ? "Fetches a day" : getUsageLimitTitle(name)
}

/** Values of the plan form by the public names of limits, as text. Bytes are in GB. */
export type PlanFormValues = Readonly<Record<string, string>>

const GIB = 1024 ** 3

/** Reports whether the form shows a limit in GB. */
function isInGb(name: LimitName): boolean {
  return LIMIT_FIELDS[name].unit === "bytes"
}

/** Converts the limits of a plan to values of the plan form. */
export function toPlanFormValues(limits: PlanLimits | null): PlanFormValues {
  if (!limits) return {}
  const numbers = toPublicLimits(limits)
  return {
    ...buildLimitRecord((_, name) => String(isInGb(name) ? numbers[name] / GIB : numbers[name])),
    slots_share: String(limits.slotsShareMax * 100),
  }
}

/** Converts submitted values of the plan form to numbers; NaN for a missing value. */
export function parsePlanNumbers(draft: PlanFormValues): Record<string, number> {
  return {
    ...buildLimitRecord((_, name) => {
      const value = numberOf(draft[name])
      return isInGb(name) ? Math.round(value * GIB) : value
    }),
    slots_share: numberOf(draft["slots_share"]) / 100,
  }
}

function numberOf(text: string | undefined): number {
  return text === undefined || text.trim() === "" ? Number.NaN : Number(text)
}
