import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { readStoredSecrets } from "../../../scripts/cli/secrets.ts"
import { bring, isLight, outputsOf } from "../../corpus/attack.ts"
import type { Attack } from "../../corpus/attack.ts"
import { makeCanaryMedia } from "../../corpus/canary-media.ts"
import { ATTACKS } from "../../corpus/hostile-commands.ts"
import { OUTPUT_NAMES, REFUSED, SHELL_LINES } from "../../corpus/hostile-requests.ts"
import type { Strangers } from "../../corpus/hostile-requests.ts"
import { madeFiles, openAccount } from "../../corpus/account.ts"
import type { Account, Outcome } from "../../corpus/account.ts"
import { makeMarker, openCanaries } from "../../corpus/canaries.ts"
import type { Canaries, Evidence } from "../../corpus/canaries.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { listIdleWorkspaces, listUsedWorkspaces } from "../../support/runner/workspaces.ts"

const LONG = "ffmpeg -re -f lavfi -i anullsrc -f u8 -t 1000 out_1"

const environment = makeMarker()
const neighbour = makeMarker()
let service: TestService
let account: Account
let victim: Account
let victimJob: string
let strangers: Strangers
let media: Record<string, Uint8Array>

beforeAll(async () => {
  media = await makeCanaryMedia()
  // A folder that is not there, so that the runner's environment has a text to look for.
  const path = `${process.env["PATH"]}:/${environment}`
  service = await startService({ PATH: path, RUNNER_CAPACITY: "3" })
  account = openAccount(service.origin, await service.makeKey("hostile"))
  victim = openAccount(service.origin, await service.makeKey("victim"))
  const { id: fileId, download_url: downloadUrl } = await victim.upload("a.txt", neighbour)
  const { id: ownId } = await account.upload("own.txt", "one's own")
  strangers = { fileId, downloadUrl, ownId }
  victimJob = await victim.start({
    ffmpeg_command: LONG,
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: "long.u8" },
  })
  while ((await victim.find(victimJob)).status !== "running") await sleep(100)
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

function open(): Promise<Canaries> {
  const secrets = Object.values(readStoredSecrets(service.stateDir) ?? {})
  const around = { work: join(service.stateDir, "work"), state: service.stateDir, media }
  return openCanaries(around, [environment, neighbour, ...secrets])
}

/** All that whoever sent a command can see of it afterwards. */
async function gather({ record, refused }: Outcome): Promise<Evidence> {
  if (!record) return { refusal: refused.text }
  const evidence: Evidence = { record: JSON.stringify(record) }
  for (const made of madeFiles(record)) {
    evidence[made.name] = await account.download(made.download_url)
    for (const member of made.files ?? []) {
      evidence[member.name] = await account.download(member.download_url)
    }
  }
  return evidence
}

async function attack(canaries: Canaries, order: Attack): Promise<Outcome> {
  const brought = await bring(order, canaries.place)
  const uploads = brought.map(async ({ key, name, content }) => {
    return [key, `svc_id://${(await account.upload(name, content)).id}`] as const
  })
  const lines = [order.words(canaries.place)].flat().map((words) => `ffmpeg ${words}`)
  return await account.run({
    ffmpeg_commands: lines,
    input_files: Object.fromEntries(await Promise.all(uploads)),
    output_files: outputsOf(order),
  })
}

describe.concurrent.for(Object.entries(ATTACKS))(
  "the sandbox and the policy prevent %s",
  ([, attacks]) => {
    test.for(attacks.map((order) => [order.name, order] as const))("by %s", async ([, order]) => {
      await using canaries = await open()
      const outcome = await attack(canaries, order)
      const evidence = await gather(outcome)
      const isDone = outcome.record?.status === "success"
      const shown = evidence["out.bin"] ?? ""
      expect({
        damage: await canaries.damage(evidence),
        succeeded: order.harm === "success" && isDone,
        isShown: order.harm === "picture" && isLight(Buffer.from(shown)),
        status: outcome.refused?.status ?? 422,
      }).toEqual({ damage: [], succeeded: false, isShown: false, status: 422 })
    })
  },
)

describe.concurrent("a command is not run by a shell", () => {
  test.for(SHELL_LINES)("%s", async ([, line]) => {
    await using canaries = await open()
    const outcome = await account.run({
      ffmpeg_command: line(canaries.place),
      input_files: {},
      output_files: { out_1: "out.bin" },
    })
    expect(await canaries.damage(await gather(outcome))).toEqual([])
    expect(outcome.refused?.status ?? 422).toBe(422)
  })
})

describe.concurrent("an output may be called", () => {
  test.for(OUTPUT_NAMES)("%s", async (name) => {
    await using canaries = await open()
    const outcome = await account.run({
      ffmpeg_command: "ffmpeg -f lavfi -i sine=d=0.1 -f u8 {{out_1}}",
      input_files: {},
      output_files: { out_1: name },
    })
    const [made] = outcome.record ? madeFiles(outcome.record) : []
    expect([made?.name, outcome.refused]).toEqual([name, null])
    const evidence = await gather(outcome)
    expect(evidence[name]?.length).toBeGreaterThan(0)
    expect(await canaries.damage(evidence)).toEqual([])
  })
})

describe.concurrent("a request is refused for", () => {
  test.for(REFUSED)("%s", async ([, body]) => {
    await using canaries = await open()
    const answer = await account.call("/commands", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body(canaries.place, strangers)),
    })
    const refusal = await answer.text()
    expect([answer.status, refusal]).toEqual([422, refusal])
    expect(await canaries.damage({ refusal })).toEqual([])
  })
})

describe("keys of the prototype of objects", () => {
  test.for(["__proto__", "constructor", "toString", "hasOwnProperty"])("%s", async (key) => {
    const body = `{"ffmpeg_command":"ffmpeg -f lavfi -i sine=d=0.1 {{${key}}}","input_files":{},"output_files":{"${key}":"a.wav"}}`
    const headers = { "content-type": "application/json", prefer: "wait=30" }
    const answer = await account.call("/commands", { method: "POST", headers, body })
    const text = await answer.text()
    const isWell = answer.status === 422 || text.includes('"status":"success"')
    expect([answer.status, text, isWell]).toEqual([answer.status, text, true])
  })
})

describe("after all attacks", () => {
  test("another account's job is still running, and ends when its owner cancels it", async () => {
    expect(await victim.find(victimJob)).toMatchObject({ status: "running", attempts: 1 })
    expect((await victim.call(`/jobs/${victimJob}/cancel`, { method: "POST" })).status).toBe(200)
  })

  test("the service works", async () => {
    const { record } = await account.run({
      ffmpeg_command: "ffmpeg -f lavfi -i sine=d=0.1 out_1",
      input_files: {},
      output_files: { out_1: "a.wav" },
    })
    expect(record?.status).toBe("success")
  })

  test("no workspace and no process is left", async () => {
    const work = join(service.stateDir, "work")
    while (listUsedWorkspaces(work).length > 0) await sleep(100)
    // A sandbox for the next task may just be set up, and what has ended may not be reaped yet.
    await expect.poll(() => linesOutside(work), { timeout: 20_000, interval: 200 }).toEqual([])
  })
})

/** The words of processes in a work folder that are not in a workspace where sandboxes wait. */
function linesOutside(workDir: string): string[] {
  const idle = [...listIdleWorkspaces(workDir)]
  const lines = commandLines().filter((line) => line.includes(workDir))
  return lines.filter((line) => !idle.some((folder) => line.includes(folder)))
}

/** The words of every process, by blanks. */
function commandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((id) => readCommandLine(id).replaceAll("\0", " "))
}

function readCommandLine(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8")
  } catch {
    return ""
  }
}
