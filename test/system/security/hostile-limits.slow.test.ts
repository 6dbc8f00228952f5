import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { EXHAUSTING, SMALL_LIMITS } from "../../corpus/exhausting.ts"
import { openAccount } from "../../corpus/account.ts"
import type { Account } from "../../corpus/account.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { listUsedWorkspaces } from "../../support/runner/workspaces.ts"

const TEXT_LENGTH_MAX = 60_000

let service: TestService
let account: Account
let neighbour: Account

beforeAll(async () => {
  service = await startService({ ...SMALL_LIMITS, RUNNER_CAPACITY: "3" })
  account = openAccount(service.origin, await service.makeKey("exhausting"))
  neighbour = openAccount(service.origin, await service.makeKey("neighbour"))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

/** A job of somebody else that is small and must work whatever happens beside it. */
async function workBeside(): Promise<string | undefined> {
  const { record } = await neighbour.run({
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc2=s=64x64:d=0.2 -c:v mpeg4 out_1",
    input_files: {},
    output_files: { out_1: "a.mp4" },
  })
  return record?.status
}

describe.concurrent("a limit ends", () => {
  test.for(EXHAUSTING.map((each) => [each.name, each] as const))("%s", async ([, each]) => {
    const inputs: Record<string, string> = {}
    if (each.text !== undefined) {
      inputs["in_1"] = `svc_id://${(await account.upload("a.txt", each.text)).id}`
    }
    const [{ record, refused }, beside] = await Promise.all([
      account.run({
        ffmpeg_command: `ffmpeg ${each.words}`,
        input_files: inputs,
        output_files: { out_1: "out.bin" },
      }),
      workBeside(),
    ])
    expect(beside).toBe("success")
    expect(JSON.stringify(record ?? refused).length).toBeLessThan(TEXT_LENGTH_MAX)
    const refusal = { status: "failed", attempts: 1, error_code: each.codes[0], error: "refused" }
    expect(refused?.status ?? 422).toBe(422)
    const { status, attempts, error_code: code = "none", error } = record ?? refusal
    const isNamed = each.codes.includes(code)
    expect({ status, attempts, code, error, isNamed }).toEqual({
      status: "failed",
      // A run may have made way for the neighbour, which it does once.
      attempts: attempts === 2 ? 2 : 1,
      code,
      error,
      isNamed: true,
    })
  })
})

describe("after all attacks", () => {
  test("nothing is left, and the service works", async () => {
    const work = join(service.stateDir, "work")
    while (listUsedWorkspaces(work).length > 0) await sleep(100)
    expect(await workBeside()).toBe("success")
  })
})
