import { z } from "zod"
import { checkUserUrl, readHosts } from "../contract/user-url.ts"
import { settingsOf } from "../env.ts"
import type { JobFacts } from "../storage/rows.ts"
import { publicOrigin } from "./context.ts"
import type { AppContext } from "./context.ts"
import { unprocessable } from "./problem.ts"
import type { Detail } from "./problem.ts"

const METADATA_PAIRS_MAX = 10

export const webhookUrl = z.string("expected a URL").max(2048, "expected at most 2048 characters")

/**
 * Fields that every create takes: `webhook`, told of the end; `metadata`, echoed back; `priority`,
 * higher first.
 */
export const createFields = {
  webhook: webhookUrl.nullish(),
  metadata: z
    .record(
      z.string().max(64, "expected keys of at most 64 characters"),
      z.string("expected a text").max(500, "expected at most 500 characters"),
      "expected an object of texts",
    )
    .refine((pairs) => Object.keys(pairs).length <= METADATA_PAIRS_MAX, {
      message: `expected at most ${METADATA_PAIRS_MAX} pairs`,
    })
    .nullish(),
  priority: z
    .int("expected a whole number from 0 to 100")
    .min(0, "expected a whole number from 0 to 100")
    .max(100, "expected a whole number from 0 to 100")
    .default(50),
}

/** Reads the shared facts of a create; 422 where its webhook may not be called. */
export function readCreateFacts(
  c: AppContext,
  fields: {
    webhook?: string | null | undefined
    metadata?: Record<string, string> | null | undefined
    priority: number
  },
): JobFacts {
  return {
    accountId: c.get("account").id,
    origin: publicOrigin(c),
    now: Date.now(),
    priority: fields.priority,
    metadata: fields.metadata ?? null,
    webhookUrl:
      typeof fields.webhook === "string" ? readWebhookUrl(c, "webhook", fields.webhook) : null,
  }
}

/** What is wrong with a URL to deliver to. */
export function webhookFaults(c: AppContext, field: string, text: string): Detail[] {
  const checked = checkUserUrl(text, readHosts(settingsOf(c.env).ALLOWED_PRIVATE_HOSTS))
  return "error" in checked ? [{ field, message: checked.error }] : []
}

/** A URL to deliver to, checked as every user URL is; the error names the field. */
export function readWebhookUrl(c: AppContext, field: string, text: string): string {
  const checked = checkUserUrl(text, readHosts(settingsOf(c.env).ALLOWED_PRIVATE_HOSTS))
  if ("error" in checked) throw unprocessable(field, checked.error)
  return checked.url.href
}
