import { z } from "zod"
import { buildLimitRecord, toPublicLimits } from "../../domain/plan-fields.ts"
import type { LimitName } from "../../domain/plan-fields.ts"
import type { PlanLimits } from "../../domain/plans.ts"
import type { CallerAccount } from "../../bindings/rpc.ts"
import type { AccountUsage } from "../../db/accounts/account-limits.ts"
import type { KeyUsageOnDay } from "../../db/accounts/usage.ts"

const USAGE_DESCRIPTIONS: Record<LimitName, string> = {
  requests_per_minute: "Requests of this key in the current minute.",
  running_jobs: "Jobs that have begun and are open.",
  waiting_jobs: "Jobs that have not begun.",
  file_bytes: "Null: the limit has no usage.",
  input_bytes: "Null: the limit has no usage.",
  run_seconds: "Null: the limit has no usage.",
  storage_bytes: "Stored bytes.",
  fetches_per_day: "Media that today's jobs (UTC) import from URLs.",
  link_seconds: "Null: the limit has no usage.",
}

/** Schema of an account with its limits and usage in responses. */
export const accountRecordSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    plan: z.string(),
    limits: z.object({
      ...buildLimitRecord(({ meaning }) => z.int().meta({ description: meaning })),
      upload_body_bytes: z.int().nullable().meta({
        description:
          "Largest body of an upload in bytes, under every plan; null if only `file_bytes` limits it. Import a larger file by its URL.",
      }),
    }),
    usage: z.object({
      ...buildLimitRecord((_, name) =>
        z.int().nullable().meta({ description: USAGE_DESCRIPTIONS[name] }),
      ),
      upload_body_bytes: z.null().meta({ description: "Null: the limit has no usage." }),
    }),
  })
  .meta({ id: "Account" })

const amount = z.int().min(0)

/** Schema of the usage of one API key on one day in responses. */
export const usageRecordSchema = z
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

export type AccountRecord = z.infer<typeof accountRecordSchema>
export type UsageRecord = z.infer<typeof usageRecordSchema>

export function toAccountRecord(
  { id, plan }: CallerAccount,
  limits: PlanLimits & { uploadBodyBytesMax: number | null },
  use: AccountUsage & { name: string; requests: number },
): AccountRecord {
  const { name, requests, runningJobs, waitingJobs, storageBytes, fetches } = use
  const usage = {
    ...buildLimitRecord(() => null),
    requests_per_minute: requests,
    running_jobs: runningJobs,
    waiting_jobs: waitingJobs,
    storage_bytes: storageBytes,
    fetches_per_day: fetches,
    upload_body_bytes: null,
  }
  const publicLimits = { ...toPublicLimits(limits), upload_body_bytes: limits.uploadBodyBytesMax }
  return { id, name, plan, limits: publicLimits, usage }
}

export function toUsageRecord(usage: KeyUsageOnDay): UsageRecord {
  const { day, requests, jobs, fetches } = usage
  return {
    day,
    key_id: usage.keyId,
    key_name: usage.keyName,
    requests,
    jobs,
    fetches,
    succeeded_jobs: usage.succeededJobs,
    failed_jobs: usage.failedJobs,
    processing_seconds: usage.processingMs / 1000,
  }
}
