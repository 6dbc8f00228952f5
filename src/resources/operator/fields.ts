import { z } from "zod"
import { PLANS } from "../../plans.ts"

export const accountName = z.string("expected a text").trim().min(1, "it is empty").max(200)

export const planName = z.enum(PLANS, `expected one of ${PLANS.join(", ")}`)
