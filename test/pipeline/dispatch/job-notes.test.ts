import { expect, test } from "vitest"
import { JobNotes } from "../../../src/pipeline/dispatch/job-notes.ts"
import type { JobSnapshot } from "../../../src/storage/transitions.ts"

type Rows = { version?: number; inputs?: number }

/** Of a job as much as is looked at here. */
function snapshotOf(id: string, { version = 1, inputs = 0 }: Rows = {}): JobSnapshot {
  const job = { id, version, state: "waiting" }
  const files = [{ id: "a", state: "waiting" }]
  const snapshot = { job, tasks: [], files, inputs: Array.from({ length: inputs }, () => ({})) }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return snapshot as unknown as JobSnapshot
}

/** Notes of which none is written. */
function openNotes(): JobNotes {
  function databaseOf(): never {
    throw new Error("D1 is not asked")
  }
  return new JobNotes(databaseOf, { onStarted: () => undefined, inBackground: () => undefined })
}

const begun = { id: "job", state: "running" as const, startedAt: 5, attempts: 1 }

test("what a claim found is taken once", () => {
  const claims = openNotes()
  claims.keepClaim("task", snapshotOf("job"))
  expect(claims.takeClaim("task")).toMatchObject({ job: { id: "job" } })
  expect(claims.takeClaim("task")).toBeNull()
})

test("a job that has begun is so, and its files with it", () => {
  const claims = openNotes()
  claims.keepClaim("task", snapshotOf("job", { version: 3 }))
  claims.claimsStarted([{ ...begun, version: 4 }])
  expect(claims.takeClaim("task")).toMatchObject({
    job: { ...begun, version: 4 },
    files: [{ id: "a", state: "running" }],
  })
})

test("a job that others changed before it began is known no more", () => {
  const claims = openNotes()
  claims.keepClaim("task", snapshotOf("job", { version: 3 }))
  claims.claimsStarted([{ ...begun, version: 5 }])
  expect(claims.takeClaim("task")).toBeNull()
})

test("neither large jobs nor all of many are kept", () => {
  const claims = openNotes()
  claims.keepClaim("large", snapshotOf("large", { inputs: 16 }))
  for (let at = 0; at <= 256; at += 1) claims.keepClaim(`task ${at}`, snapshotOf("job"))
  expect(claims.takeClaim("large")).toBeNull()
  expect(claims.takeClaim("task 0")).toBeNull()
  expect(claims.takeClaim("task 1")).not.toBeNull()
})
