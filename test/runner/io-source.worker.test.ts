import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeAll, expect, it } from "vitest"
import { app } from "../../src/app.ts"
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"
import { newId } from "../../src/platform/ids.ts"
import { endOpenJob } from "../../src/jobs/settle/settle.ts"
import { makeTaskToken } from "../../src/runner/task-token.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { createJob } from "../support/db/create-job.ts"
import { draftJobRow, draftTask } from "../../src/domain/job-draft.ts"
import { claimTask } from "../../src/db/jobs/tasks.ts"
import { findCallerAccountId, startCommandTask } from "../support/media/bundle.ts"
import { makeCaller } from "../support/caller.ts"
import type { TestCaller } from "../support/caller.ts"

const S3_SOURCES = JSON.stringify([
  {
    bucket: "films",
    endpoint: "https://store.example/base/",
    region: "auto",
    access_key_id: "KEY-ID",
    secret_access_key: "the-secret",
  },
])

const CANCELED = { code: "canceled" as const, message: "Canceled.", lines: [] }

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("io-source")
})

/** Starts a task that imports a URL. */
async function startImport(url: string) {
  const now = Date.now()
  const id = newId()
  const accountId = await findCallerAccountId(caller)
  const facts = {
    origin: "https://lathe.test",
    now,
    priority: 50,
    metadata: null,
    webhookUrl: null,
    webhookForm: "native" as const,
  }
  const work = {
    kind: "import" as const,
    url,
    bytes_max: 1,
    run_seconds_max: 1,
    outputs: [{ key: "file", name: "a" }],
  }
  const task = draftTask(facts, { id, jobId: id, pool: "fetch", work, inputs: [], blocked: false })
  const job = draftJobRow(facts, { id, kind: "file", request: { file_url: url } })
  await createJob(openAccountDatabases(env, accountId), { job, tasks: [task], files: [] })
  const claim = { taskId: id, jobId: id, slot: "fetch-0", allocation: 1, now }
  const fence = (await claimTask(openAccountDatabases(env, accountId), claim))?.task.fence ?? 0
  const run = { accountId, jobId: id, taskId: id, fence }
  return { run, taskId: id, token: await makeTaskToken(env.LATHE_SECRET ?? "", run) }
}

/** Returns the Worker's response about a task's source, and its requests to the store. */
async function readSource(
  { taskId, token }: { taskId: string; token: string },
  answerOf: (request: Request) => Response | Promise<Response>,
  headers: Record<string, string> = {},
) {
  const asked: Request[] = []
  const store: Fetcher = Object.create(env.RUNNER ?? null, {
    fetch: {
      value: async (request: Request) => {
        asked.push(request)
        return await answerOf(request)
      },
    },
  })
  const ctx = createExecutionContext()
  const request = new Request(`https://lathe.test/io/${taskId}/source`, {
    headers: {
      authorization: `Bearer ${token}`,
      [PROTOCOL_HEADER]: PROTOCOL_VERSION,
      ...headers,
    },
  })
  const answer = await app.fetch(request, { ...env, S3_SOURCES, S3: store }, ctx)
  const body = await answer.text()
  await waitOnExecutionContext(ctx)
  return { answer, body, asked }
}

function refuse(status: number, code = ""): () => Response {
  return () =>
    new Response(`<Error><Code>${code}</Code><Message>KEY-ID</Message></Error>`, { status })
}

it("signs the request for the object of the task's own work, below the endpoint's path", async () => {
  const { answer, body, asked } = await readSource(
    await startImport("s3://films/a b//ü?#.mp4"),
    () => new Response("bytes", { headers: { etag: '"one"', "x-amz-meta-secret": "x" } }),
  )
  expect([answer.status, body]).toEqual([200, "bytes"])
  const [request] = asked
  expect(request?.url).toBe("https://store.example/base/films/a%20b//%C3%BC%3F%23.mp4")
  expect(request?.redirect).toBe("manual")
  expect(request?.headers.get("accept-encoding")).toBe("identity")
  const authorization = request?.headers.get("authorization") ?? ""
  expect(authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=KEY-ID\/\d{8}\/auto\/s3\/aws4_request, /,
  )
  expect(authorization).toContain("SignedHeaders=host;x-amz-content-sha256;x-amz-date, ")
  const told = JSON.stringify([...answer.headers])
  expect(told).toContain("a%20b//%C3%BC%3F%23.mp4")
  expect(told).not.toMatch(/KEY-ID|store\.example|x-amz/)
})

it("requests the rest of one version, and recognizes a range that the store sends with status 200", async () => {
  const task = await startImport("s3://films/a.mp4")
  const range = { "content-range": "bytes 2-4/5" }
  const asked = { range: "bytes=2-", "if-range": '"one"' }
  const { answer, asked: sent } = await readSource(
    task,
    () => new Response("cde", { headers: range }),
    asked,
  )
  expect(answer.status).toBe(206)
  expect(sent.map(({ headers }) => [headers.get("range"), headers.get("if-match")])).toEqual([
    ["bytes=2-", '"one"'],
  ])
  const dated = await readSource(task, () => new Response(null, { status: 412 }), {
    ...asked,
    "if-range": "Sun, 22 Nov 2026 07:00:00 GMT",
  })
  expect(dated.answer.status).toBe(412)
  expect(dated.answer.headers.get("lathe-source")).toBe("found")
  expect(dated.asked[0]?.headers.get("if-unmodified-since")).toBe("Sun, 22 Nov 2026 07:00:00 GMT")
})

it("tries the decoded key if the literal one is missing, and reports the literal one", async () => {
  const task = await startImport("s3://films/a%20b.mp4")
  const found = await readSource(task, ({ url }) =>
    url.endsWith("/a%20b.mp4") ? new Response("bytes") : refuse(403, "AccessDenied")(),
  )
  expect(found.asked.map(({ url }) => url.split("/").at(-1))).toEqual(["a%2520b.mp4", "a%20b.mp4"])
  expect(found.body).toBe("bytes")
  const none = await readSource(task, ({ url }) =>
    refuse(url.endsWith("/a%20b.mp4") ? 404 : 403, "AccessDenied")(),
  )
  expect(none.answer.headers.get("lathe-source-status")).toBe("403")
})

it.each([
  [404, "NoSuchKey"],
  [403, "SignatureDoesNotMatch"],
  [301, "PermanentRedirect"],
  [503, "SlowDown"],
  [410, "Odd"],
])(
  "passes on a %i and its code, and nothing else of the store's response",
  async (status, code) => {
    const { answer, body } = await readSource(
      await startImport("s3://films/a.mp4"),
      refuse(status, code),
    )
    expect([answer.status, body]).toEqual([424, ""])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "lathe-source": "refused",
      "lathe-source-status": String(status),
      "lathe-source-code": code,
    })
  },
)

it("reports a store that does not respond, and a bucket that is not listed", async () => {
  const gone = await readSource(await startImport("s3://films/a.mp4"), () => {
    throw new Error("store.example refused the connection")
  })
  expect([gone.answer.status, gone.body]).toEqual([424, ""])
  expect(gone.answer.headers.get("lathe-source")).toBe("unreachable")
  const other = await readSource(await startImport("s3://others/a.mp4"), () => new Response("x"))
  expect(other.asked).toEqual([])
  expect(other.answer.headers.get("lathe-source")).toBe("unlisted")
})

it("requires a run that continues, and its own token", async () => {
  const task = await startImport("s3://films/a.mp4")
  function store() {
    return new Response("x")
  }
  const forged = await readSource({ ...task, token: `${task.token}x` }, store)
  expect([forged.answer.status, forged.asked.length]).toEqual([401, 0])
  const other = await startImport("s3://films/b.mp4")
  const foreign = await readSource({ ...task, token: other.token }, store)
  expect([foreign.answer.status, foreign.asked.length]).toEqual([401, 0])
  await endOpenJob(env, task.run, { state: "canceled", failure: CANCELED })
  const over = await readSource(task, store)
  expect([over.answer.status, over.asked.length]).toEqual([410, 0])
})

it("returns 404 for a task that imports nothing from a store", async () => {
  for (const task of [
    await startImport("https://films.example/a.mp4"),
    await startImport("s3://films/../others/a.mp4"),
    await startCommandTask(caller, { out_1: "a.mp4" }),
  ]) {
    const { answer, asked } = await readSource(task, () => new Response("x"))
    expect([answer.status, asked.length]).toEqual([404, 0])
  }
})
