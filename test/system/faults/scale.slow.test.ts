import { expect, it } from "vitest"
import { createBenchResources } from "../../../scripts/bench/scope.ts"
import { computeLimitRows, runScale } from "../../../scripts/bench/scale/scale.ts"

it("measures jobs of several accounts, each of which ends once", async () => {
  const scope = createBenchResources()
  try {
    const { facts, waitMs, counts, finished, webhooks } = await runScale(scope, {
      accounts: 3,
      rate: 300,
      seconds: 6,
    })
    const jobs = facts.submitted
    expect(jobs).toBeGreaterThanOrEqual(1)
    expect({ refused: facts.refused, finished, webhooks }).toEqual({
      refused: 0,
      finished: jobs,
      webhooks: facts.withWebhook,
    })
    expect(counts).toMatchObject({
      "states.jobs": jobs,
      "states.succeeded_jobs": jobs,
      "states.open_jobs": 0,
      "states.delivered": facts.withWebhook,
      "worker.caller_requests": jobs,
      // Each is an upload, which is put and read, or a command, which reads a file and puts one.
      "r2.class_a": jobs,
      "r2.class_b": jobs,
      "d1.failed": 0,
    })
    const objects = ["Dispatcher", "Pool", "RateLimiter"].map((name) => `object.${name}.requests`)
    for (const name of ["d1.rows_read", "d1.rows_written", ...objects]) {
      expect([name, (counts[name] ?? 0) >= jobs]).toEqual([name, true])
    }
    expect(facts.submitMs.length).toBe(jobs)
    expect(waitMs.length).toBe(jobs)
    expect(computeLimitRows(counts, finished).flat().join()).not.toMatch(/NaN|Infinity/)
  } finally {
    await scope.close()
  }
})
