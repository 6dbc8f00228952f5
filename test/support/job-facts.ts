import type { JobProperties } from "../../src/domain/job-draft.ts"

/** Returns properties of a job that is created now and reports to `webhookUrlSchema`. */
export function makeJobProperties(webhookUrl: string | null): JobProperties {
  return {
    origin: "https://lathe.test",
    now: Date.now(),
    priority: 50,
    metadata: null,
    webhookUrl,
    webhookForm: "native",
  }
}
