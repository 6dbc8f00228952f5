import { z } from "zod"
import { DELIVERY_STATES } from "../../contract/state.ts"
import { webhookUrl } from "../../http/create-fields.ts"

/** The body of POST /webhooks/test. */
export const testRequest = z.strictObject({ url: webhookUrl })

/** The filters of GET /webhooks/deliveries. */
export const deliveryFilters = z.object({
  job_id: z.uuid("expected the id of a job").toLowerCase().optional(),
  status: z.enum(DELIVERY_STATES, `expected one of ${DELIVERY_STATES.join(", ")}`).optional(),
})
