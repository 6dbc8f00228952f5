import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { openAccountDatabases } from "../../src/db/database.ts"
import { listOpenTasksAndReaders } from "../../src/db/jobs/open-tasks.ts"
import { readJobSnapshot } from "../../src/db/jobs/apply-transition.ts"
import { findCallerAccountId } from "../support/media/bundle.ts"
import { makeCaller } from "../support/caller.ts"
import { makeCommandBody } from "../support/media/command-request.ts"
import { PROBE_RESULT } from "../support/runner/stand-in-runner.ts"
import { endOnlyTask } from "../support/tasks.ts"

it("tasks that wait for a file of a finished job are found although the job has no tasks any more", async () => {
  const caller = await makeCaller("waits for a probe")
  const accountId = await findCallerAccountId(caller)
  const database = openAccountDatabases(env, accountId)
  const body = new FormData()
  body.append("file", new File(["x"], "clip.mp4"))
  const answer = await caller.call("/files", { method: "POST", body })
  const { id } = await answer.json<{ id: string }>()
  const command = await caller.post("/commands", makeCommandBody(id))
  const { command_id: jobId } = await command.json<{ command_id: string }>()
  const [reader] = (await readJobSnapshot(database, jobId))?.tasks ?? []
  const { taskId } = await endOnlyTask(accountId, id, { result: PROBE_RESULT })
  const rows = env.DB.prepare("select count(*) as count from tasks where job_id = ?").bind(id)
  expect(await rows.first("count")).toBe(0)
  const { open } = await listOpenTasksAndReaders(database, { ids: [taskId], jobIds: [id] })
  expect(open.map((task) => task.id)).toEqual([reader?.id])
})
