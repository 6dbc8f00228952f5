import { z } from "zod"
import { mapLimits, viewLimits } from "../../plan-fields.ts"
import type { LimitName } from "../../plan-fields.ts"
import type { Limits } from "../../plans.ts"
import type { Holder } from "../../rpc.ts"
import type { AccountUse } from "../../storage/account-limits.ts"
import type { DayOfKey } from "../../storage/usage.ts"

const USAGE_MEANINGS: Record<LimitName, string> = {
  requests_per_minute: "Requests of this key in this minute.",
  running_jobs: "Jobs that have begun.",
  waiting_jobs: "Jobs that have not begun.",
  file_bytes: "Nothing uses this up.",
  input_bytes: "Nothing uses this up.",
  run_seconds: "Nothing uses this up.",
  storage_bytes: "Bytes that are stored.",
  fetches_per_day: "Media that jobs were to bring in from URLs today, UTC.",
  link_seconds: "Nothing uses this up.",
}

/** An account as its callers see it. */
export const accountRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    plan: z.string(),
    limits: z.object({
      ...mapLimits(({ meaning }) => z.int().meta({ description: meaning })),
      upload_body_bytes: z.int().nullable().meta({
        description:
          "Bytes of the body of one upload, whatever the plan is; null where only `file_bytes` bounds it. A larger file is brought in by its URL.",
      }),
    }),
    usage: z.object({
      ...mapLimits((_, name) => z.int().nullable().meta({ description: USAGE_MEANINGS[name] })),
      upload_body_bytes: z.null().meta({ description: "Nothing uses this up." }),
    }),
  })
  .meta({ id: "Account" })

const amount = z.int().min(0)

/** What one key used on one day. */
export const usageRecord = z
  .object({
    day: z.iso.date(),
    key_id: z.uuid().nullable(),
    key_name: z.string().nullable(),
    requests: amount,
    jobs: amount,
    fetches: amount,
    succeeded_jobs: amount,
    failed_jobs: amount,
    processing_seconds: z.number().min(0),
  })
  .meta({ id: "DayOfUse" })

export type AccountRecord = z.infer<typeof accountRecord>
export type UsageRecord = z.infer<typeof usageRecord>

export function viewAccount(
  { id, plan }: Holder,
  limits: Limits & { uploadBodyBytesMax: number | null },
  use: AccountUse & { name: string; requests: number },
): AccountRecord {
  const { name, requests, runningJobs, waitingJobs, storageBytes, fetches } = use
  const usage = {
    ...mapLimits(() => null),
    requests_per_minute: requests,
    running_jobs: runningJobs,
    waiting_jobs: waitingJobs,
    storage_bytes: storageBytes,
    fetches_per_day: fetches,
    upload_body_bytes: null,
  }
  const shown = { ...viewLimits(limits), upload_body_bytes: limits.uploadBodyBytesMax }
  return { id, name, plan, limits: shown, usage }
}

export function viewUsage(used: DayOfKey): UsageRecord {
  const { day, requests, jobs, fetches } = used
  return {
    day,
    key_id: used.keyId,
    key_name: used.keyName,
    requests,
    jobs,
    fetches,
    succeeded_jobs: used.succeededJobs,
    failed_jobs: used.failedJobs,
    processing_seconds: used.processingMs / 1000,
  }
}
