import { execFile } from "node:child_process"
import { globSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { makeChildEnvironment } from "../../../scripts/cli/environment.ts"
import { startServiceProcess } from "../../../scripts/cli/service-process.ts"
import type { ServiceProcess } from "../../../scripts/cli/service-process.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { openKeyedCall } from "./keyed-call.ts"
import type { KeyedCall } from "./keyed-call.ts"
import { startReceiver } from "../receiver.ts"
import type { Receiver } from "../receiver.ts"

const DATABASES = 4
const SETTINGS = {
  DATABASES: String(DATABASES),
  SWEEP_SECONDS: "3",
  ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
}
const run = promisify(execFile)
const listed = z.object({
  accounts: z.tuple([z.object({ id: z.string(), database: z.number(), waiting_jobs: z.number() })]),
})
const accepted = z.looseObject({ command_id: z.string() })
const failed = z.object({ stdout: z.string(), stderr: z.string() })
const command = z.looseObject({ status: z.string() })

type Account = { name: string; id: string; database: number; call: KeyedCall }

const opened = new AsyncDisposableStack()
let service: ServiceProcess
let receiver: Receiver
let copyDir: string
const keyOf = new Map<string, string>()
/** An account in each database except the directory, by database number. */
const accounts = new Map<number, Account>()

beforeAll(async () => {
  receiver = opened.use(await startReceiver())
  const { path: stateDir } = opened.use(await makeTempFolder("databases"))
  copyDir = opened.use(await makeTempFolder("databases-copy")).path
  service = await startServiceProcess({ stateDir, settings: SETTINGS, echoesErrors: true })
  opened.use(service)
  for (let made = 0; accounts.size < DATABASES - 1; made += 1) {
    const name = `spread-${made}`
    const key = await service.makeKey(name, "paid")
    const call = openKeyedCall(service, key)
    keyOf.set(name, key)
    const { id, database } = await find(name)
    accounts.set(database, { name, id, database, call })
  }
})

afterAll(async () => await opened.disposeAsync())

async function find(name: string) {
  const headers = { authorization: `Bearer ${service.operator.token}` }
  const answer = await fetch(`${service.origin}/operator/accounts?name=${name}`, { headers })
  return listed.parse(await answer.json()).accounts[0]
}

function accountIn(database: number): Account {
  const account = accounts.get(database)
  if (!account) throw new Error(`no account is in database ${database}`)
  return account
}

async function submit({ call, name }: Account, seconds = 1): Promise<Response> {
  return await call("/commands", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ffmpeg_command: `ffmpeg -f lavfi -i testsrc=size=64x64:rate=5 -t ${seconds} {{out_1}}`,
      input_files: {},
      output_files: { out_1: "out.mp4" },
      webhook: `${receiver.origin}/${name}`,
    }),
  })
}

async function isOver({ call }: Account, id: string): Promise<string> {
  return command.parse(await (await call(`/commands/${id}`)).json()).status
}

/** Makes a copy of the service as it runs; answers what was said of it. */
async function backUp(): Promise<string> {
  const env = { ...makeChildEnvironment(), STATE_DIR: service.stateDir }
  const made = run("sh", ["scripts/run", "backup", copyDir], { env })
  const { stdout, stderr } = await made.catch((error: unknown) => failed.parse(error))
  return stdout + stderr
}

function toldOf({ name }: Account, id: string): number {
  return receiver.received.filter(({ path, body }) => path === `/${name}` && body.includes(id))
    .length
}

test("jobs of accounts in four databases run and send their webhooks", async () => {
  expect(globSync(join(service.stateDir, "v3/d1/**/*.sqlite")).length).toBeGreaterThanOrEqual(4)
  const ids = await Promise.all(
    [...accounts.values()].map(async (account) => {
      const answer = await submit(account)
      expect(answer.status).toBe(202)
      return { account, id: accepted.parse(await answer.json()).command_id }
    }),
  )
  for (const { account, id } of ids) {
    await expect.poll(async () => await isOver(account, id)).toBe("success")
    await expect.poll(() => toldOf(account, id)).toBe(1)
    for (const other of accounts.values()) {
      if (other === account) continue
      expect((await other.call(`/commands/${id}`)).status).toBe(404)
    }
  }
})

test("a deleted account leaves nothing open in its database", async () => {
  const { name, id, call } = accountIn(4)
  const answer = await submit({ name, id, database: 4, call }, 600)
  expect(answer.status).toBe(202)
  const headers = { authorization: `Bearer ${service.operator.token}` }
  const deleted = await fetch(`${service.origin}/operator/accounts/${id}`, {
    method: "DELETE",
    headers,
  })
  expect(deleted.status).toBe(200)
  const jobId = accepted.parse(await answer.json()).command_id
  await expect
    .poll(() => receiver.received.filter(({ body }) => body.includes(jobId)).length)
    .toBe(1)
  expect((await call("/files")).status).toBe(401)
})

test("a backup during work has all databases, with every account and its jobs", async () => {
  const account = accountIn(2)
  const { id, database } = await find(account.name)
  const answer = await submit(account)
  const jobId = accepted.parse(await answer.json()).command_id
  await expect.poll(async () => await isOver(account, jobId)).toBe("success")
  expect(await backUp()).toContain("Copied")
  const other = await startServiceProcess({ stateDir: copyDir, settings: SETTINGS })
  opened.use(other)
  for (const { call, name } of [account, accountIn(3)]) {
    const list = await call("/commands?limit=1")
    const path = list.url.replace(service.origin, other.origin)
    const copied = await fetch(path, { headers: { "x-api-key": keyOf.get(name) ?? "" } })
    expect(await copied.text()).toBe((await list.text()).replaceAll(service.origin, other.origin))
  }
  const headers = { authorization: `Bearer ${other.operator.token}` }
  const shown = await fetch(`${other.origin}/operator/accounts/${id}`, { headers })
  expect(await shown.json()).toMatchObject({ database, waiting_jobs: 0 })
})

test("a service does not start with fewer databases than its accounts are in", async () => {
  const { stateDir } = service
  await service[Symbol.asyncDispose]()
  const starting = startServiceProcess({ stateDir, settings: { ...SETTINGS, DATABASES: "2" } })
  await expect(starting).rejects.toThrow(
    /^DATABASES is 2, and accounts are in database \d: it may only rise\.$/m,
  )
})
