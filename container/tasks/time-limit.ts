import { callerFailure } from "../failures.ts"
import type { TaskFailure } from "../failures.ts"

/** How a sentence says of a time limit whose it is; `plan` is the order's. */
export type TimeLimit = { secondsMax: number; plan: string | undefined }

/** The failure of what was stopped since it may not run longer; `what` is the subject of a sentence. */
export function timeLimitFailure(what: string, { secondsMax, plan }: TimeLimit): TaskFailure {
  const whose = plan === undefined ? "" : ` on the ${plan} plan`
  const message = `It was stopped: ${what} may run for ${secondsMax} seconds${whose}.`
  return callerFailure("time_limit", message)
}
