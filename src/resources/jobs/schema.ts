import { z } from "zod"
import { JOB_KINDS } from "../../contract/state.ts"
import { JOB_STATUSES } from "./view.ts"

/** What a list of jobs may be narrowed to. */
export const jobFilters = z.object({
  kind: z.enum(JOB_KINDS, `expected one of ${JOB_KINDS.join(", ")}`).optional(),
  status: z.enum(JOB_STATUSES, `expected one of ${JOB_STATUSES.join(", ")}`).optional(),
})
