import { z } from "zod"
import type { Env } from "../../../bindings/env.ts"
import { listPlanNames } from "../../../accounts/manage-plans.ts"

export const accountNameSchema = z.string("expected a string").trim().min(1, "it is empty").max(200)

/** Returns a schema that accepts only the names of existing plans. */
export async function makePlanNameSchema(env: Env) {
  const names = await listPlanNames(env)
  return z.string("expected a string").refine((name) => names.includes(name), {
    error: ({ input }) => `unknown plan ${String(input)}; the plans are ${names.join(", ")}`,
  })
}
