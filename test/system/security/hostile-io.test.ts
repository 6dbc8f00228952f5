import { globSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { buffer } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { readStoredSecrets } from "../../../scripts/cli/secrets.ts"
import {
  RUNNER_BOOT_ID_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
} from "../../../src/contract/protocol.ts"
import { signText } from "../../../src/platform/crypto/signature.ts"
import { openAccount } from "../../corpus/account.ts"
import type { Account } from "../../corpus/account.ts"
import { makeMarker } from "../../corpus/canaries.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { listUsedWorkspaces } from "../../support/runner/workspaces.ts"

const LONG = "ffmpeg -re -f lavfi -i anullsrc -f u8 -t 1000 out_1"
const PAYLOAD = makeMarker()
const BUSY_MS_MAX = 5000

/** The run that a token is for. */
type TaskRun = { accountId: string; jobId: string; taskId: string; fence: number }
type Answer = { status: number; text: string; length: string | undefined }

const taskRow = z.object({ account_id: z.string(), id: z.string(), fence: z.number() })

const markers = { first: makeMarker(), second: makeMarker() }
let service: TestService
let secret: string
let key: string
/** Two tasks of two accounts that run, and one that has ended. */
let first: TaskRun
let second: TaskRun
let ended: TaskRun
let accounts: Account[]

beforeAll(async () => {
  service = await startService({ RUNNER_CAPACITY: "3" })
  secret = readStoredSecrets(service.stateDir)?.LATHE_SECRET ?? ""
  key = await service.makeKey("first")
  const keys = [key, await service.makeKey("second")]
  accounts = keys.map((each) => openAccount(service.origin, each))
  first = await begin(accounts[0], markers.first)
  second = await begin(accounts[1], markers.second)
  ended = await begin(accounts[1], markers.second)
  await accounts[1]?.call(`/jobs/${ended.jobId}/cancel`, { method: "POST" })
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

/** Starts a job of an account that runs for long, on a text; answers its task once it runs. */
async function begin(account: Account | undefined, text: string): Promise<TaskRun> {
  if (!account) throw new Error("there is no such account")
  const { id } = await account.upload("a.txt", text)
  const jobId = await account.start({
    ffmpeg_command: LONG,
    input_files: { in_1: `svc_id://${id}` },
    output_files: { out_1: "long.u8" },
  })
  while ((await account.find(jobId)).status !== "running") await sleep(50)
  const row = taskRow.parse(
    ask(`select account_id, id, fence from tasks where job_id = '${jobId}'`),
  )
  return { accountId: row.account_id, taskId: row.id, jobId, fence: row.fence }
}

/** A row of the service's database. */
function ask(query: string): unknown {
  const paths = globSync(join(service.stateDir, "v3/d1/**/*.sqlite"))
  const path = paths.find((each) => !each.endsWith("metadata.sqlite")) ?? ""
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS_MAX })
  try {
    return database.prepare(query).get()
  } finally {
    database.close()
  }
}

/** Asks an I/O route, its path sent as it is written here. */
async function io(
  path: string,
  token: string,
  differing: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const { port } = new URL(service.origin)
  const outgoing = request({
    port,
    path,
    method: differing.method ?? "GET",
    headers: {
      authorization: `Bearer ${token}`,
      [PROTOCOL_HEADER]: PROTOCOL_VERSION,
      [RUNNER_BOOT_ID_HEADER]: "nobody",
      ...(differing.body !== undefined && { "content-length": String(differing.body.length) }),
      ...differing.headers,
    },
  })
  return await new Promise((resolve, reject) => {
    outgoing.on("error", reject)
    outgoing.on("response", (incoming) => {
      void buffer(incoming).then((bytes) => {
        const length = incoming.headers["content-length"]
        resolve({ status: incoming.statusCode ?? 0, text: bytes.toString("latin1"), length })
      }, reject)
    })
    outgoing.end(differing.body)
  })
}

/** A token as the service would make it, by the service's own secret unless another is given. */
async function mint(run: TaskRun, differing: Partial<TaskRun> = {}, by = secret): Promise<string> {
  const { accountId, jobId, taskId, fence } = { ...run, ...differing }
  const text = [accountId, jobId, taskId, fence].join(".")
  return `${text}.${await signText(by, "task", text)}`
}

function put(path: string, token: string): Promise<Answer> {
  return io(path, token, { method: "PUT", body: PAYLOAD })
}

test("a task's own token opens its input", async () => {
  const answer = await io(`/io/${first.taskId}/inputs/in_1`, await mint(first))
  expect(answer).toMatchObject({ status: 200, text: markers.first })
})

describe("a route stays closed for", () => {
  const TOKENS: [string, () => Promise<string>][] = [
    ["no token", async () => ""],
    ["an API key", async () => key],
    ["a task's id", async () => first.taskId],
    ["another task's token", () => mint(second)],
    ["the token of a task that ended", () => mint(ended)],
    ["a token of another secret", () => mint(first, {}, "x".repeat(43))],
    ["a token cut short", async () => (await mint(first)).slice(0, -1)],
    ["a token with more behind it", async () => `${await mint(first)}.x`],
    [
      "a token with another fence in it",
      async () => (await mint(first)).replace(/\.(\d+)\./, ".9."),
    ],
    ["a token of an older fence", () => mint(first, { fence: first.fence - 1 })],
    ["a token of a fence to come", () => mint(first, { fence: first.fence + 1 })],
    ["a token of another account", () => mint(first, { accountId: second.accountId })],
  ]

  test.for(TOKENS)("%s", async ([, makeToken]) => {
    const token = await makeToken()
    const place = `/io/${first.taskId}`
    const report = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"kind":"heartbeat"}',
    }
    const answers = [
      await io(`${place}/inputs/in_1`, token),
      await put(`${place}/outputs/out_1`, token),
      await io(`${place}/outputs/out_1/parts`, token, { method: "POST" }),
      await io(`${place}/reports`, token, report),
    ]
    for (const { status } of answers) expect([400, 401, 404, 410]).toContain(status)
    for (const { text } of answers) expect(text).not.toContain(markers.first)
  })

  test("a finished task, with its own token", async () => {
    const token = await mint(ended)
    const { status, text } = await io(`/io/${ended.taskId}/inputs/in_1`, token)
    expect([status, text.includes(markers.second)]).toEqual([410, false])
    expect((await put(`/io/${ended.taskId}/outputs/out_1`, token)).status).toBe(410)
  })

  test("a caller that does not speak the runner's protocol", async () => {
    const headers = { [PROTOCOL_HEADER]: "0" }
    const answer = await io(`/io/${first.taskId}/inputs/in_1`, await mint(first), { headers })
    expect(answer.status).toBe(426)
  })
})

describe("a task's own token does not open", () => {
  const KEYS = [
    "in_2",
    "../in_1",
    "%2e%2e%2fin_1",
    "..%2f..%2fsecrets",
    "in_1%00",
    "__proto__",
    "in_1/x/../../..",
  ]

  test.for(KEYS)("input %s", async (name) => {
    const { status, text } = await io(`/io/${first.taskId}/inputs/${name}`, await mint(first))
    expect([400, 401, 404, 405, 410]).toContain(status)
    expect(text).not.toMatch(/canary/)
  })

  test("input of another task", async () => {
    const path = `/io/${first.taskId}/../${second.taskId}/inputs/in_1`
    const { status, text } = await io(path, await mint(first))
    expect([status, text.includes(markers.second)]).toEqual([401, false])
  })

  test("upload of another task", async () => {
    const begun = await io(`/io/${second.taskId}/outputs/out_1/parts`, await mint(second), {
      method: "POST",
    })
    const { upload_id: id } = z.object({ upload_id: z.string() }).parse(JSON.parse(begun.text))
    const path = `/io/${first.taskId}/outputs/out_1/parts/1?upload_id=${encodeURIComponent(id)}`
    expect((await put(path, await mint(first))).status).toBe(404)
  })

  test("output for its account before the success of its job", async () => {
    const token = await mint(first)
    const puts = ["out_1", "in_1", "out_2"].map((name) =>
      put(`/io/${first.taskId}/outputs/${name}`, token),
    )
    expect((await Promise.all(puts)).map(({ status }) => status)).toEqual([200, 404, 404])
    const record = await accounts[0]?.find(first.jobId)
    expect(record).toMatchObject({ status: "running", output_files: { out_1: "long.u8" } })
    expect((await io(`/io/${first.taskId}/inputs/in_1`, token)).text).toBe(markers.first)
    const files = await (await accounts[0]?.call("/files"))?.text()
    expect(files).not.toContain("out_2")
  })
})

describe("an invalid range returns nothing beyond the request", () => {
  const RANGES = [
    "bytes=5-1",
    "bytes=-5",
    "bytes=0-0",
    "bytes=999999-",
    "bytes=0-1,3-4",
    "bytes=a-b",
    "bytes=",
    "lines=1-2",
    "bytes=-0",
    "bytes=99999999999999999999-",
    "bytes=3-4",
  ]

  test.for(RANGES)("%s", async (range) => {
    const path = `/io/${first.taskId}/inputs/in_1`
    const answer = await io(path, await mint(first), { headers: { range } })
    const isWhole = answer.text === markers.first
    expect(answer.status).toBe(isWhole ? 200 : 206)
    const isOwn = answer.status >= 300 || markers.first.includes(answer.text)
    expect([isOwn, answer.length]).toEqual([true, String(answer.text.length)])
  })
})

describe("from outside", () => {
  test.for(["/operator/keys", "/operator/runner-up", "/io", "/io/", "/io/x/reports", "//io//x"])(
    "%s opens nothing",
    async (path) => {
      for (const token of ["", key, "x"]) {
        expect([401, 403, 404, 405, 426]).toContain((await io(path, token)).status)
        const posted = await io(path, token, { method: "POST", body: "{}" })
        expect([401, 403, 404, 405, 426]).toContain(posted.status)
      }
    },
  )
})

test("the attacked tasks still run", async () => {
  // A workspace that is just being prepared for a task to come looks like a third for a moment.
  const workDir = join(service.stateDir, "work")
  await expect.poll(() => listUsedWorkspaces(workDir), { timeout: BUSY_MS_MAX }).toHaveLength(2)
  expect((await accounts[0]?.find(first.jobId))?.status).toBe("running")
  expect((await accounts[1]?.find(second.jobId))?.status).toBe("running")
})
