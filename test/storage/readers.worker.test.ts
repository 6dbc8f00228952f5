import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { databaseOf } from "../../src/storage/database.ts"
import { listOpenAndReaders } from "../../src/storage/open-tasks.ts"
import { readSnapshot } from "../../src/storage/transitions.ts"
import { accountOf } from "../support/bundle.ts"
import { makeCaller } from "../support/caller.ts"
import { commandRequest } from "../support/command-request.ts"
import { probed } from "../support/stand-in-runner.ts"
import { endTask } from "../support/tasks.ts"

it("what waits for a file of a job that is over is found, though that has no tasks any more", async () => {
  const caller = await makeCaller("waits for a probe")
  const accountId = await accountOf(caller)
  const database = databaseOf(env, accountId)
  const body = new FormData()
  body.append("file", new File(["x"], "clip.mp4"))
  const answer = await caller.call("/files", { method: "POST", body })
  const { id } = await answer.json<{ id: string }>()
  const command = await caller.post("/commands", commandRequest(id))
  const { command_id: jobId } = await command.json<{ command_id: string }>()
  const [reader] = (await readSnapshot(database, jobId))?.tasks ?? []
  const { taskId } = await endTask(accountId, id, { result: probed })
  const rows = env.DB.prepare("select count(*) as count from tasks where job_id = ?").bind(id)
  expect(await rows.first("count")).toBe(0)
  const { open } = await listOpenAndReaders(database, { ids: [taskId], jobIds: [id] })
  expect(open.map((task) => task.id)).toEqual([reader?.id])
})
