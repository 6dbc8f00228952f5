import type { LimitName } from "../../../plan-fields.ts"
import { titleOfLimit } from "../../components/amount.ts"

/** What a limit is called where no use of it is meant. */
export function titleInPlan(name: LimitName): string {
  if (name === "requests_per_minute") return "Requests a minute"
  return name === "fetches_per_day" ? "Fetches a day" : titleOfLimit(name)
}
