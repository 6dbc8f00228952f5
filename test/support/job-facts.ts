import type { JobFacts } from "../../src/storage/job-drafts.ts"

/** Facts of a job that is made now and reports to `webhookUrl`. */
export function jobFacts(webhookUrl: string | null): JobFacts {
  return {
    origin: "https://lathe.test",
    now: Date.now(),
    priority: 50,
    metadata: null,
    webhookUrl,
    webhookForm: "native",
  }
}
