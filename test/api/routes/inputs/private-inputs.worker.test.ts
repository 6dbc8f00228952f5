import { env } from "cloudflare:workers"
import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { INPUT_FORMS } from "../../../support/inputs-with-headers.ts"
import type { InputForm } from "../../../support/inputs-with-headers.ts"
import { openAccountDatabases } from "../../../../src/db/database.ts"
import { decryptTaskSecrets } from "../../../../src/db/jobs/task-secrets.ts"
import { claimTask } from "../../../../src/db/jobs/tasks.ts"
import {
  countTaskSecrets,
  readRefusalFaults,
  PRIVATE_FILE_URL,
} from "../../../support/private-inputs.ts"
import { readJob } from "../../../support/runner/stand-in-runner.ts"

let caller: TestCaller
let accountId: string
/** Value of a header; it occurs nowhere else. */
let secret: string

beforeAll(async () => {
  caller = await makeCaller("private inputs")
  accountId = await findCallerAccountId(caller)
})

beforeEach(() => {
  secret = `secret-${crypto.randomUUID()}`
})

function privateInput(headers: object = { Authorization: `Bearer ${secret}` }) {
  return { url: PRIVATE_FILE_URL, headers }
}

async function create(form: InputForm): Promise<string> {
  const answer = await caller.post(form.path, form.body(privateInput()))
  const text = await answer.text()
  expect([answer.status, text]).toEqual([form.path === "/files" ? 201 : 202, expect.anything()])
  expect(text).not.toContain(secret)
  return z.uuid().parse(z.record(z.string(), z.unknown()).parse(JSON.parse(text))[form.idField])
}

/** Returns all rows of D1 and objects of R2 as one text. */
async function storedText(): Promise<string> {
  const names = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like '_cf%' and name not like 'sqlite_%'",
  ).all<{ name: string }>()
  const texts = []
  for (const { name } of names.results) {
    texts.push(JSON.stringify((await env.DB.prepare(`select * from "${name}"`).all()).results))
  }
  for (const { key } of (await env.MEDIA.list()).objects) {
    texts.push(await (await env.MEDIA.get(key))?.text())
  }
  return texts.join("\n")
}

/** Returns everything that is shown of a job. */
async function shownOf({ path }: InputForm, id: string): Promise<string> {
  const own = ["/transcode", "/ffmpeg"].includes(path) ? [] : [path, `${path}/${id}`]
  const paths = [...own, `/jobs/${id}`, "/jobs", "/files", "/webhooks/deliveries"]
  const answers = await Promise.all(paths.map(async (each) => await caller.call(each)))
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200))
  return (await Promise.all(answers.map((answer) => answer.text()))).join("\n")
}

/** Claims the task that asks for the URL and returns its secrets, as its runner gets them. */
async function secretsOf(jobId: string) {
  const { tasks } = await readJob(accountId, jobId)
  const task = tasks.find(({ work }) => work.has_headers)
  if (!task) throw new Error("no task has headers")
  const database = openAccountDatabases(env, accountId)
  const claim = { taskId: task.id, jobId, slot: "fetch-0", allocation: 2 ** 45, now: Date.now() }
  await claimTask(database, claim)
  const held = env.DB.prepare("select slot, allocation from tasks where id = ?")
  const own = await held.bind(task.id).first<{ slot: string; allocation: number }>()
  const claimed = await claimTask(database, { ...claim, ...own })
  return await decryptTaskSecrets(env.LATHE_SECRET ?? "", task.id, claimed?.sealedSecrets ?? "")
}

describe.each(INPUT_FORMS.map((each) => [each.form, each] as const))("%s", (_, form) => {
  it("takes headers, shows the URL alone and stores the headers encrypted", async () => {
    const id = await create(form)
    expect(await countTaskSecrets(id)).toBe(1)
    const stored = await storedText()
    expect(stored).toContain(PRIVATE_FILE_URL)
    expect(stored).not.toContain(secret)
    expect(stored).not.toContain("Authorization")
    expect(JSON.stringify(await readJob(accountId, id))).not.toContain(secret)
    const shown = await shownOf(form, id)
    expect(shown).not.toContain(secret)
    expect(shown).not.toContain("Authorization")
    expect(await secretsOf(id)).toEqual({ headers: [["Authorization", `Bearer ${secret}`]] })
    await caller.call(`/jobs/${id}`, { method: "DELETE" })
    expect(await countTaskSecrets(id)).toBe(0)
  })

  it.each([
    [
      "Host",
      { url: PRIVATE_FILE_URL, headers: { Host: "a" } },
      ".headers.Host: this header is not allowed",
    ],
    [
      "http",
      { url: "http://media.example/a.mp4", headers: { "X-A": "a" } },
      ".url: expected an https URL",
    ],
    ["a URL alone", { url: PRIVATE_FILE_URL }, `write the string alone: \`${PRIVATE_FILE_URL}\``],
  ])("refuses %s and names the field", async (_what, input, expected) => {
    const faults = await readRefusalFaults(caller, form, input)
    expect(faults.startsWith(form.field)).toBe(true)
    expect(faults).toContain(expected)
  })

  it("compares headers when an Idempotency-Key is used again", async () => {
    const key = crypto.randomUUID()
    async function send(value: string) {
      const headers = { "content-type": "application/json", "idempotency-key": key }
      const body = JSON.stringify(form.body(privateInput({ "X-Key": value })))
      return await caller.call(form.path, { method: "POST", headers, body })
    }
    const first = await send("one")
    const again = await send("one")
    expect(again.headers.get("idempotent-replayed")).toBe("true")
    expect(again.headers.get("location")).toBe(first.headers.get("location"))
    expect((await send("two")).status).toBe(409)
  })

  it("is retried only with headers given again", async () => {
    const id = await create(form)
    await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    const field = form.form === "source of a transcription" ? "file_url" : form.field
    const without = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
    expect(without.status).toBe(422)
    expect(await without.json()).toMatchObject({
      details: [
        {
          field: `headers.${field}`,
          message: expect.stringContaining(`{"headers": {"${field}": {…}}}`) as unknown,
        },
      ],
    })
    const wrong = await caller.post(`/jobs/${id}/retry`, { headers: { [field]: { Host: "a" } } })
    expect(wrong.status).toBe(422)
    expect(await wrong.text()).toContain(`headers.${field}.Host: this header is not allowed`)
    const other = { [field]: { "X-A": secret }, "input_files.in_9": { "X-A": secret } }
    const needless = await caller.post(`/jobs/${id}/retry`, { headers: other })
    expect(needless.status).toBe(422)
    expect(await needless.text()).toContain("headers.input_files.in_9: expected headers only for")
    const anew = { headers: { [field]: { Authorization: `Basic ${secret}` } } }
    const answer = await caller.post(`/jobs/${id}/retry`, anew)
    const text = await answer.text()
    expect([answer.status, text]).toEqual([202, expect.not.stringContaining(secret)])
    const { id: jobId } = z.looseObject({ id: z.uuid() }).parse(JSON.parse(text))
    expect(await storedText()).not.toContain(secret)
    expect(await secretsOf(jobId)).toEqual({ headers: [["Authorization", `Basic ${secret}`]] })
    await caller.call(`/jobs/${jobId}`, { method: "DELETE" })
  })
})
