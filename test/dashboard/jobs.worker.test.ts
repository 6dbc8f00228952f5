import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { openAccountDatabases } from "../../src/db/database.ts"
import { findJob } from "../../src/db/jobs/jobs.ts"
import { storeJobLog } from "../support/runner/kept-log.ts"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"
import type { SignedInCaller } from "../support/accounts/signed-in.ts"
import { endOnlyTask } from "../support/tasks.ts"

const ORIGIN = "https://lathe.test"
const COMMAND = "ffmpeg -f lavfi -i testsrc2=duration=1 {{out_1}}"

let user: SignedInCaller

beforeAll(async () => {
  user = await makeSignedInUser()
})

describe("the pages of jobs", () => {
  it("explain the first command if there are no jobs", async () => {
    const html = await textOf("/jobs")
    expect(html).toContain("Run a first command")
    expect(html).not.toContain("data-poll")
  })

  it("follow an open job, and offer its cancellation", async () => {
    const id = await create()
    const html = await textOf(`/jobs/${id}`)
    expect(html).toContain(`data-follow="${id}"`)
    expect(html).toContain(`action="/jobs/${id}/cancel"`)
    expect(html).not.toContain(`action="/jobs/${id}/retry"`)
    expect(html).toContain("testsrc2=duration=1")
    expect(await textOf("/jobs?kind=command&status=queued")).toContain(`/jobs/${id}`)
  })

  it("poll the list if more jobs are open than event streams are allowed", async () => {
    const many = await makeSignedInUser()
    for (let number = 0; number < 4; number += 1) await create(many)
    const html = await (await many.visit("/jobs")).text()
    expect(html).toContain("data-poll")
    expect(html).not.toContain("data-follow")
  })

  it("cancel a job once, and retry it as a new one", async () => {
    const id = await create()
    const canceled = await user.submit(`/jobs/${id}/cancel`)
    expect(canceled.headers.get("location")).toBe(`/jobs/${id}`)
    expect(await textOf(`/jobs/${id}`)).toContain("canceled")
    await user.submit(`/jobs/${id}/cancel`)
    expect(await textOf(`/jobs/${id}`)).toContain("cannot be canceled")
    const again = await user.submit(`/jobs/${id}/retry`)
    const path = again.headers.get("location") ?? ""
    expect(path).toMatch(/^\/jobs\/[0-9a-f-]{36}$/)
    expect(await textOf(path)).toContain(`href="/jobs/${id}"`)
  })

  it("link to the log of ffmpeg, which a session may read", async () => {
    const id = await create()
    expect(await textOf(`/jobs/${id}`)).not.toContain("FFmpeg output")
    await storeJobLog(id)
    expect(await textOf(`/jobs/${id}`)).toContain(`href="/v1/jobs/${id}/log"`)
    expect(await textOf(`/v1/jobs/${id}/log`)).toBe("a line\n")
  })

  it("show the tool's message for a failed job", async () => {
    const id = await create()
    const failure = { code: "command_failed" as const, message: "It said <b>no</b>." }
    await endOnlyTask(user.accountId, id, { failure })
    const html = await textOf(`/jobs/${id}`)
    expect(html).toContain("It said &lt;b&gt;no&lt;/b&gt;.")
    expect(html).toContain("command_failed")
    expect(html).not.toContain("data-follow")
  })

  it("show the outputs of a job and its deliveries", async () => {
    const id = await create(user, { webhook: "https://example.com/hook" })
    const probe = {
      format_name: "mov",
      streams: [],
      format: {},
      duration: 1,
      width: 64,
      height: 36,
    }
    const output = { key: "out_1", size_bytes: 2048, content_type: "video/mp4", probe }
    await endOnlyTask(user.accountId, id, { result: { kind: "command", outputs: [output] } })
    const html = await textOf(`/jobs/${id}`)
    expect(html).toMatch(/<video [^>]*src="\/v1\/files\/[^"]+\/made.mp4\?disposition=inline"/)
    expect(html).toContain("64 × 36")
    expect(html).toContain("2 KB")
    expect(html).toContain("https://example.com/hook")
  })

  it("delete a job", async () => {
    const id = await create()
    const answer = await user.submit(`/jobs/${id}/delete`)
    expect(answer.headers.get("location")).toBe("/jobs")
    expect(await findJob(openAccountDatabases(env, user.accountId), id)).toBeNull()
  })

  it("hide other accounts' jobs and their requests", async () => {
    const id = await create()
    const other = await makeSignedInUser()
    const answer = await other.visit(`/jobs/${id}`)
    expect(answer.status).toBe(404)
    expect(await answer.text()).not.toContain("testsrc2")
    expect((await other.submit(`/jobs/${id}/cancel`)).status).toBe(404)
  })
})

async function create(caller = user, more: object = {}): Promise<string> {
  const answer = await caller.visit("/v1/commands", {
    method: "POST",
    headers: { origin: ORIGIN, "content-type": "application/json" },
    body: JSON.stringify({
      input_files: {},
      output_files: { out_1: "made.mp4" },
      ffmpeg_command: COMMAND,
      ...more,
    }),
  })
  const { command_id } = await answer.json<{ command_id: string }>()
  return command_id
}

async function textOf(path: string): Promise<string> {
  const answer = await user.visit(path)
  expect(answer.status).toBe(200)
  return await answer.text()
}
