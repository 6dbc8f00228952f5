import { LIMIT_FIELDS, mapLimits, viewLimits } from "../../../plan-fields.ts"
import type { LimitName } from "../../../plan-fields.ts"
import type { Limits } from "../../../plans.ts"

/** What the form of a plan has in its fields, by the public names of limits; bytes are in GB. */
export type PlanDraft = Readonly<Record<string, string>>

const GIB = 1024 ** 3

/** Whether a limit is written in GB in the form. */
export function isInGb(name: LimitName): boolean {
  return LIMIT_FIELDS[name].unit === "bytes"
}

/** The fields of the form for a plan's numbers. */
export function draftOf(limits: Limits | null): PlanDraft {
  if (!limits) return {}
  const numbers = viewLimits(limits)
  return {
    ...mapLimits((_, name) => String(isInGb(name) ? numbers[name] / GIB : numbers[name])),
    slots_share: String(limits.slotsShareMax * 100),
  }
}

/** The numbers that the fields say; NaN where a field has none. */
export function numbersOf(draft: PlanDraft): Record<string, number> {
  return {
    ...mapLimits((_, name) => {
      const value = numberOf(draft[name])
      return isInGb(name) ? Math.round(value * GIB) : value
    }),
    slots_share: numberOf(draft["slots_share"]) / 100,
  }
}

function numberOf(text: string | undefined): number {
  return text === undefined || text.trim() === "" ? Number.NaN : Number(text)
}
