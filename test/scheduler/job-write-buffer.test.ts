import { expect, test } from "vitest"
import { JobWriteBuffer } from "../../src/scheduler/job-write-buffer.ts"
import type { JobSnapshot } from "../../src/domain/snapshot.ts"

type Rows = { version?: number; inputs?: number }

/** Returns a snapshot with the fields that these tests read. */
function snapshotOf(id: string, { version = 1, inputs = 0 }: Rows = {}): JobSnapshot {
  const job = { id, version, state: "waiting" }
  const files = [{ id: "a", state: "waiting" }]
  const snapshot = { job, tasks: [], files, inputs: Array.from({ length: inputs }, () => ({})) }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return snapshot as unknown as JobSnapshot
}

/** Opens notes that never write. */
function openNotes(): JobWriteBuffer {
  function openDatabase(): never {
    throw new Error("D1 is not asked")
  }
  return new JobWriteBuffer(openDatabase, {
    onStarted: () => undefined,
    inBackground: () => undefined,
  })
}

const begun = { id: "job", state: "running" as const, startedAt: 5, attempts: 1 }

test("the snapshot of a claim is returned once", () => {
  const claims = openNotes()
  claims.keepClaim("task", snapshotOf("job"))
  expect(claims.takeClaim("task")).toMatchObject({ job: { id: "job" } })
  expect(claims.takeClaim("task")).toBeNull()
})

test("the start of a job updates its snapshot and files", () => {
  const claims = openNotes()
  claims.keepClaim("task", snapshotOf("job", { version: 3 }))
  claims.claimsStarted([{ ...begun, version: 4 }])
  expect(claims.takeClaim("task")).toMatchObject({
    job: { ...begun, version: 4 },
    files: [{ id: "a", state: "running" }],
  })
})

test("a job that changed before its start is dropped", () => {
  const claims = openNotes()
  claims.keepClaim("task", snapshotOf("job", { version: 3 }))
  claims.claimsStarted([{ ...begun, version: 5 }])
  expect(claims.takeClaim("task")).toBeNull()
})

test("large jobs are not cached, and the number of cached jobs is bounded", () => {
  const claims = openNotes()
  claims.keepClaim("large", snapshotOf("large", { inputs: 16 }))
  for (let at = 0; at <= 256; at += 1) claims.keepClaim(`task ${at}`, snapshotOf("job"))
  expect(claims.takeClaim("large")).toBeNull()
  expect(claims.takeClaim("task 0")).toBeNull()
  expect(claims.takeClaim("task 1")).not.toBeNull()
})
