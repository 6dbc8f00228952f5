import { z } from "zod"
import type { Env } from "../../env.ts"
import { listPlanNames } from "../../pipeline/accounts/plans.ts"

export const accountName = z.string("expected a text").trim().min(1, "it is empty").max(200)

/** The name of a plan that accounts can be given now. */
export async function planNameOf(env: Env) {
  const names = await listPlanNames(env)
  return z.string("expected a text").refine((name) => names.includes(name), {
    error: ({ input }) => `there is no plan ${String(input)}; there are ${names.join(", ")}`,
  })
}
