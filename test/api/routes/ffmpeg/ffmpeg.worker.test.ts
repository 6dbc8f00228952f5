import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  readJob,
} from "../../../support/runner/stand-in-runner.ts"

type JobRecord = { id: string; kind: string; status: string }

const FILM = "https://media.example/film.mp4?a=1&b=2"

let caller: TestCaller
let accountId: string
let stored: { id: string; download_url: string }

beforeAll(async () => {
  caller = await makeCaller("ffmpeg jobs")
  accountId = await findCallerAccountId(caller)
  stored = await uploadTestFile(caller, "clip.mp4", "x")
})

/** Returns a valid request with changed fields. */
function request(changes: Record<string, unknown> = {}) {
  return {
    inputs: [`svc_id://${stored.id}`],
    command: "-i {{in_1}} -c copy",
    output_filename: "out.mkv",
    ...changes,
  }
}

async function accepted(changes: Record<string, unknown> = {}): Promise<JobRecord> {
  const answer = await caller.post("/ffmpeg", request(changes))
  if (answer.status !== 202) throw new Error(await answer.text())
  const job = await answer.json<JobRecord>()
  expect(answer.headers.get("location")).toBe(`https://lathe.test/v1/jobs/${job.id}`)
  return job
}

async function refused(changes: Record<string, unknown>): Promise<[number, string]> {
  const answer = await caller.post("/ffmpeg", request(changes))
  const { error } = await answer.json<{ error: { code: string; message: string } }>()
  expect(error.code).toBe("invalid_request")
  return [answer.status, error.message]
}

async function read(id: string): Promise<Record<string, unknown>> {
  return await (await caller.call(`/jobs/${id}`)).json<Record<string, unknown>>()
}

/** Returns the words and the outputs in a job's task. */
async function workOf({ id }: JobRecord) {
  const { commands, outputs } = (await findTaskByKind(accountId, id, "command")).work
  return { commands, outputs }
}

async function countJobs() {
  return await env.DB.prepare("select count(*) as n from jobs where kind = 'ffmpeg'").first("n")
}

describe("POST /ffmpeg", () => {
  it("answers with the Job, which is in the list of jobs and has a command to run", async () => {
    const job = await accepted({ metadata: { a: "b" }, priority: 80 })
    expect(job).toMatchObject({ kind: "ffmpeg", status: "queued", metadata: { a: "b" } })
    expect(await read(job.id)).toMatchObject({ kind: "ffmpeg", id: job.id })
    const listed = await (await caller.call("/jobs?kind=ffmpeg")).json<JobRecord[]>()
    expect(listed.map(({ id }) => id)).toContain(job.id)
    expect(await workOf(job)).toEqual({
      commands: [["-i", "{{in_1}}", "-c", "copy", "{{out_1}}"]],
      outputs: [{ key: "out_1", name: "out.mkv" }],
    })
  })

  it("accepts inputs by their URIs, each File or URL once", async () => {
    const job = await accepted({
      inputs: [FILM, stored.download_url, FILM],
      command: `ffmpeg -i '${FILM}' -i ${stored.download_url} -filter_complex overlay a.mp4`,
      output_filename: null,
    })
    expect(await workOf(job)).toEqual({
      commands: [["-i", "{{in_1}}", "-i", "{{in_2}}", "-filter_complex", "overlay", "{{out_1}}"]],
      outputs: [{ key: "out_1", name: "a.mp4" }],
    })
    const { tasks } = await readJob(accountId, job.id)
    expect(tasks.map(({ work }) => work.kind).toSorted()).toEqual(["command", "import", "probe"])
  })

  it("redacts a key in a URI of the command", async () => {
    const uri = `${stored.download_url}?key=${caller.key}`
    const { id } = await accepted({ inputs: [uri], command: `-i ${uri} -c copy` })
    const rows = await env.DB.prepare(
      "select jobs.request, tasks.work from jobs join tasks on tasks.job_id = jobs.id where jobs.id = ?",
    )
      .bind(id)
      .all()
    expect(rows.results).toHaveLength(1)
    expect(JSON.stringify(rows.results)).not.toContain(caller.key)
  })

  it.each<[string, Record<string, unknown>, string]>([
    ["no inputs", { inputs: undefined }, "inputs: "],
    ["inputs that are no list", { inputs: "x" }, "inputs: expected an array of URIs"],
    ["an input that is a number", { inputs: [1] }, "inputs.0: expected svc_id://<uuid>"],
    ["65 inputs", { inputs: Array<string>(65).fill(FILM) }, "inputs: expected at most 64 inputs"],
    [
      "an input that there is not",
      { inputs: [`svc_id://${crypto.randomUUID()}`] },
      "inputs.0: the account has no such file",
    ],
    ["an input of a private network", { inputs: [FILM, "http://10.0.0.1/a.mp4"] }, "inputs.1: "],
    ["no command", { command: undefined }, "command: "],
    ["an empty command", { command: "" }, "command: it is empty"],
    ["an unknown input", { command: "-i {{in_2}}" }, 'command: "in_2" is neither'],
    ["a refused option", { command: "-i in_1 -report" }, "command: -report writes a log file"],
    [
      "a URL that is no input",
      { command: "-i https://media.example/b.mp4" },
      'command: -i: "https://media.example/b.mp4": a command cannot reach a network or a URL; give the same URL in inputs',
    ],
    [
      "a place without a name",
      { command: "-i in_1 out_1", output_filename: undefined },
      "output_filename: expected a file name whose extension",
    ],
    [
      "no output",
      { output_filename: undefined },
      "output_filename: expected a file name here or at the end",
    ],
    ["two names", { command: "-i in_1 a.mp4" }, 'output_filename: the command writes "a.mp4"'],
    ["two outputs", { command: "-i in_1 a.mp4 {{out_1}}" }, 'command: the command writes "a.mp4"'],
    [
      "a name with a folder",
      { output_filename: "../a.mp4" },
      "output_filename: expected a file name",
    ],
    [
      "both webhooks",
      { webhook: "https://a.example/", webhook_url: "https://a.example/" },
      "webhook_url: expected webhook_url or webhook, not both",
    ],
    ["a field that there is not", { output_files: {} }, "output_files: "],
  ])("refuses %s with a 400 and creates nothing", async (_, changes, begin) => {
    const before = await countJobs()
    const [status, error] = await refused(changes)
    expect([status, error.slice(0, begin.length)]).toEqual([400, begin])
    expect(await countJobs()).toBe(before)
  })

  it("reports all faults at once", async () => {
    const [status, error] = await refused({
      inputs: ["nothing", FILM],
      command: "-i in_1 -vf movie=/etc/passwd -i in_7",
      output_filename: "a/b",
      priority: 101,
    })
    expect(status).toBe(400)
    for (const part of [
      "inputs.0: ",
      "command: -vf: ",
      '"in_7" is neither',
      "output_filename: ",
      "priority: ",
    ]) {
      expect(error).toContain(part)
    }
  })
})

describe("a job of ffmpeg", () => {
  it("has its single output after success", async () => {
    const { id } = await accepted({
      inputs: [],
      command: "-f lavfi -i testsrc=d=1 s_%d.png",
      output_filename: undefined,
    })
    const outputs = [
      {
        key: "out_1",
        size_bytes: 3,
        content_type: "application/zip",
        members: [{ name: "s_1.png", size_bytes: 3, content_type: "image/png", crc32: 1 }],
      },
    ]
    await claimAndEndTask(await findTaskByKind(accountId, id, "command"), {
      result: { kind: "command", outputs },
    })
    const job = await read(id)
    expect(job).toMatchObject({ status: "completed", progress: 100 })
    expect(job["outputs"]).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: "s.zip",
        url: expect.stringMatching(/\/v1\/files\/[0-9a-f-]+\/s\.zip$/),
        archive_url: expect.stringMatching(/\/v1\/files\/[0-9a-f-]+\/s\.zip$/),
        content_type: "application/zip",
        size_bytes: 3,
      },
    ])
    expect(job).not.toHaveProperty("processing_errors")
  })

  it("has the last output of ffmpeg after a failure, and can be retried", async () => {
    const { id } = await accepted({ inputs: [], command: "-f lavfi -i testsrc=d=1" })
    const failure = { code: "command_failed" as const, message: "It did not work." }
    await claimAndEndTask(await findTaskByKind(accountId, id, "command"), { failure })
    expect(await read(id)).toMatchObject({
      status: "failed",
      error: failure,
      processing_errors: ["It did not work.", "a line"],
    })
    const answer = await caller.post(`/jobs/${id}/retry`, {})
    expect(answer.status).toBe(202)
    const again = await answer.json<JobRecord>()
    expect(again).toMatchObject({ kind: "ffmpeg", retry_of: id })
    expect(await workOf(again)).toEqual(await workOf({ ...again, id }))
  })
})
