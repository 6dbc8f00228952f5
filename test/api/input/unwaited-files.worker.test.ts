import { expect, it } from "vitest"
import { makeCaller } from "../../support/caller.ts"
import { startFakePlainRunner } from "../../support/runner/tiny-runner.ts"

/** Fields that a run changes, which may have begun before the record is read. */
const MOVING = ["status", "attempts", "progress", "started_at", "updated_at"]

function fixedOf(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !MOVING.includes(name)))
}

it.each([
  ["a form", { metadata: '{"a":"b"}', expires_in: "3600" }],
  ["JSON", { file_url: "https://media.example/clip.mp4", priority: 10 }],
])("the answer to a file by %s equals that of a GET", async (form, fields) => {
  startFakePlainRunner(() => new Promise(() => undefined))
  const caller = await makeCaller(`unwaited ${form}`)
  const answer = await caller.call("/files", { method: "POST", ...bodyOf(fields) })
  expect(answer.status).toBe(201)
  const made = await answer.json<Record<string, unknown>>()
  const read = await (await caller.call(`/files/${String(made["id"])}`)).json<typeof made>()
  expect(fixedOf(made)).toEqual(fixedOf(read))
  expect(made["status"]).toBe("pending")
})

function bodyOf(fields: Record<string, string | number>): RequestInit {
  if ("file_url" in fields) {
    return { headers: { "content-type": "application/json" }, body: JSON.stringify(fields) }
  }
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.append(name, String(value))
  body.append("file", new File(["x"], "clip.mp4"))
  return { body }
}
