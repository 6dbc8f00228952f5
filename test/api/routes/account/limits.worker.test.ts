import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { OPERATIONS } from "../../../../src/api/routes/operations.ts"
import { openAccountDatabases } from "../../../../src/db/database.ts"
import { removeFile } from "../../../../src/db/files/files.ts"
import { COMMAND_EXAMPLE_REQUEST } from "../../../../src/kinds/command/request.ts"
import { findInputRows } from "../../../../src/db/files/input-files.ts"
import { uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { makeCommandBody } from "../../../support/media/command-request.ts"
import { countAccountData } from "../../../support/left-over.ts"
import { changeLimitsOfPlan, makeLimitedCaller } from "../../../support/accounts/limited-caller.ts"
import {
  findPathParameters,
  createExampleResources,
  sendExampleRequest,
} from "../../../support/operations.ts"
import { readProblem } from "../../../support/problem.ts"

/** Creates of jobs; an upload by tus makes its File at its end. */
const CREATES = OPERATIONS.filter(
  ({ errors, path }) => errors?.includes("job_limit_exceeded") && !path.startsWith("/uploads"),
)

const LIFT = "ask the operator of this service for another plan; GET /v1/account shows"

function sendFile(caller: TestCaller, body: BodyInit, headers: Record<string, string> = {}) {
  return caller.call("/files", { method: "POST", body, headers })
}

function form(content: string): FormData {
  const body = new FormData()
  body.append("file", new File([content], "a.txt"))
  return body
}

const GRANTED_MS = 1_000

async function forget(caller: TestCaller): Promise<void> {
  const row = env.DB.prepare("select hash from keys where id = ?").bind(caller.id)
  await env.RATE_LIMITER.getByName((await row.first<string>("hash")) ?? "").forget()
  // Grants ahead of a busy key end with the second for which they last.
  await scheduler.wait(GRANTED_MS)
}

describe("a limit of the plan", () => {
  it("applies to every create, in each of its forms", async () => {
    expect(CREATES.map(({ path }) => path).toSorted()).toEqual([
      "/batches",
      "/batches/{id}/retry",
      "/commands",
      "/fetch",
      "/ffmpeg",
      "/files",
      "/jobs/{id}/retry",
      "/normalize",
      "/transcode",
      "/transcribe",
    ])
    const caller = await makeLimitedCaller("limited creates", {})
    await createExampleResources(caller)
    // The newest job, which the retry repeats, needs no output of another job.
    await caller.post("/commands", COMMAND_EXAMPLE_REQUEST)
    const bodies = CREATES.flatMap((create) =>
      Object.keys(create.bodies ?? { none: null }).map((type) => ({ create, type })),
    )
    const sent = await Promise.all(
      bodies.map(async (each) => ({
        ...each,
        parameters: await findPathParameters(caller, each.create),
      })),
    )
    const before = await countAccountData(caller.accountId)
    await changeLimitsOfPlan(caller.plan, { waitingJobsMax: 0 })
    await forget(caller)
    for (const { create, type, parameters } of sent) {
      const answer = await sendExampleRequest(create, parameters, { "x-api-key": caller.key }, type)
      const { code_name } = await readProblem(answer)
      expect([create.path, type, code_name]).toEqual([create.path, type, "job_limit_exceeded"])
    }
    await expect.poll(() => countAccountData(caller.accountId)).toEqual(before)
  })

  it("names the waiting jobs and the remedy", async () => {
    const caller = await makeLimitedCaller("many jobs", { waitingJobsMax: 2 })
    const request = { ...makeCommandBody(""), input_files: {} }
    const order = { ...request, ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}" }
    for (let times = 0; times < 2; times += 1) {
      expect((await caller.post("/commands", order)).status).toBe(202)
    }
    const answer = await caller.post("/commands", order)
    expect(answer.headers.get("retry-after")).toBe("10")
    const { code_name, message, error } = await readProblem(answer)
    expect(code_name).toBe("job_limit_exceeded")
    expect(message).toContain(
      "has 2 waiting jobs, and the plan allows 2: send the request again when",
    )
    expect(message).toContain(LIFT)
    expect(error).toMatchObject({ retry_after: 10 })
  })

  it("counts each URL of a request as one fetch, and names the start of the next day", async () => {
    const caller = await makeLimitedCaller("many fetches", { fetchesPerDay: 3 })
    const url = "https://media.example/a.mp4"
    const two = { in_1: url, in_2: "https://media.example/b.mp4" }
    const request = makeCommandBody("", {
      input_files: two,
      ffmpeg_command: "ffmpeg -i {{in_1}} -i {{in_2}} {{out_1}}",
    })
    expect((await caller.post("/commands", request)).status).toBe(202)
    const answer = await caller.post("/commands", request)
    const { code_name, message } = await readProblem(answer)
    expect(code_name).toBe("fetch_limit_exceeded")
    expect(message).toContain(
      "has imported 2 media from URLs today, the request would import 2 more",
    )
    expect(message).toContain("the plan allows 3 a day (UTC)")
    expect(message).toContain(LIFT)
    const seconds = Number(answer.headers.get("retry-after"))
    const midnight = new Date(Date.now() + seconds * 1000).toISOString().slice(11, 18)
    expect(["00:00:0", "23:59:5"]).toContain(midnight)
    expect((await caller.post("/files", { file_url: url })).status).toBe(201)
    expect((await readProblem(await caller.post("/fetch", { url }))).code_name).toBe(
      "fetch_limit_exceeded",
    )
  })
})

describe("storage_bytes", () => {
  it("refuses an upload that turns out too large, and removes its bytes", async () => {
    const caller = await makeLimitedCaller("small store", { storageBytesMax: 10 })
    const { id } = await uploadTestFile(caller, "a.txt", "123456")
    const answer = await sendFile(caller, form("12345"))
    const { code_name, message } = await readProblem(answer)
    expect(code_name).toBe("storage_limit_exceeded")
    expect(message).toContain(
      "stores 6 bytes with its unfinished uploads, the request would add 5, and the plan allows 10: delete",
    )
    expect(message).toContain(LIFT)
    const one = { files: 1, uploads: 0, jobs: 1, objects: 1 }
    await expect.poll(() => countAccountData(caller.accountId)).toEqual(one)
    expect((await sendFile(caller, form("1234"))).status).toBe(201)
    const ids = { fileIds: [id], jobIds: [] }
    const {
      files: [file],
    } = await findInputRows(openAccountDatabases(env, caller.accountId), ids)
    if (file) await removeFile(openAccountDatabases(env, caller.accountId), file, Date.now())
    expect((await sendFile(caller, form("12345"))).status).toBe(201)
  })

  it("refuses an upload before its bytes if the account is full", async () => {
    const caller = await makeLimitedCaller("full store", { storageBytesMax: 3 })
    await uploadTestFile(caller, "a.txt", "123")
    const { readable } = new TransformStream()
    const headers = { "content-type": "multipart/form-data; boundary=x" }
    const answer = await sendFile(caller, readable, headers)
    expect((await readProblem(answer)).code_name).toBe("storage_limit_exceeded")
  })

  it("refuses an upload before its bytes if the announced length is too large", async () => {
    const caller = await makeLimitedCaller("announced", { storageBytesMax: 2 * 1024 * 1024 })
    const { readable } = new FixedLengthStream(3 * 1024 * 1024 + 1)
    const headers = { "content-type": "multipart/form-data; boundary=x" }
    const answer = await sendFile(caller, readable, headers)
    const { code_name, message } = await readProblem(answer)
    expect(code_name).toBe("storage_limit_exceeded")
    expect(message).toContain(`the request would add ${2 * 1024 * 1024 + 1}, and`)
  })

  it("refuses a retry before copying the file of its job", async () => {
    const caller = await makeLimitedCaller("full retry", { storageBytesMax: 9 })
    const { id } = await uploadTestFile(caller, "a.txt", "12345")
    await caller.post(`/jobs/${id}/cancel`, {})
    const before = await countAccountData(caller.accountId)
    const answer = await caller.post(`/jobs/${id}/retry`, {})
    expect((await readProblem(answer)).code_name).toBe("storage_limit_exceeded")
    expect(await countAccountData(caller.accountId)).toEqual(before)
  })
})

describe("a repeated create", () => {
  it("gets its earlier answer even if the account may have no more jobs", async () => {
    const caller = await makeLimitedCaller("again at the limit", { waitingJobsMax: 1 })
    const order = {
      ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
      input_files: {},
      output_files: { out_1: "a.mp4" },
    }
    function send(key: string) {
      return caller.call("/commands", {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify(order),
      })
    }
    const answers = await Promise.all(Array.from({ length: 8 }, () => send("one")))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(202))
    expect((await send("one")).headers.get("idempotent-replayed")).toBe("true")
    expect((await readProblem(await send("other"))).code_name).toBe("job_limit_exceeded")
  })

  it("gets its earlier answer even if its file has filled the account", async () => {
    const caller = await makeLimitedCaller("again in a full store", { storageBytesMax: 5 })
    const key = { "idempotency-key": "one" }
    const first = await sendFile(caller, form("12345"), key)
    const again = await sendFile(caller, form("12345"), key)
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.headers.get("idempotent-replayed")).toBe("true")
    const other = await sendFile(caller, form("12345"), { "idempotency-key": "two" })
    expect((await readProblem(other)).code_name).toBe("storage_limit_exceeded")
    const one = { files: 1, uploads: 0, jobs: 1, objects: 1 }
    await expect.poll(() => countAccountData(caller.accountId)).toEqual(one)
  })
})
