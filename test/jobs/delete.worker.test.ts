import { expect, it } from "vitest"
import { makeCommandBody } from "../support/media/command-request.ts"
import { makeCaller } from "../support/caller.ts"

it("of a pending import fails the waiting command with input_deleted", async () => {
  const caller = await makeCaller("deletes an import that a command waits for")
  const imported = await caller.post("/files", { file_url: "https://a.example/clip.mp4" })
  const { id: fileId } = await imported.json<{ id: string }>()
  const request = makeCommandBody(fileId)
  const created = await caller.post("/commands", request)
  const { command_id: id } = await created.json<{ command_id: string }>()
  expect((await caller.call(`/files/${fileId}`, { method: "DELETE" })).status).toBe(200)
  await expect
    .poll(async () => await (await caller.call(`/commands/${id}`)).json())
    .toMatchObject({
      status: "failed",
      error_code: "input_deleted",
      error: 'The input "in_1" was deleted before the job could read it.',
    })
})
