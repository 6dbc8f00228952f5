import { beforeAll, expect, it } from "vitest"
import { OPERATIONS } from "../../../src/api/routes/operations.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"

const BODY_LENGTH = 1024 * 1024 - 64
const ANSWER_LENGTH_MAX = 256 * 1024

const operations = OPERATIONS.filter(({ bodies }) => bodies && "application/json" in bodies)
const named = operations.map((operation) => [operation.operationId, operation] as const)

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("largest bodies")
})

/** Returns the most pairs of a map that fit a body. */
function pairs(pairOf: (index: number) => [string, unknown]): Record<string, unknown> {
  const [name, value] = pairOf(999_999)
  const count = Math.floor(BODY_LENGTH / (JSON.stringify({ [name]: value }).length + 1))
  return Object.fromEntries(Array.from({ length: count }, (_, index) => pairOf(index)))
}

/** Returns bodies of about 1 MiB, each large in another way. */
function largeBodies(): Record<string, unknown> {
  const base = { input_files: {}, output_files: { out_1: "a.mp4" }, ffmpeg_command: "ffmpeg out_1" }
  const line = `ffmpeg ${"-x y ".repeat(600)}`
  return {
    "unknown fields": pairs((index) => [`x${index}`, 1]),
    "a long field": { ...base, url: "x".repeat(BODY_LENGTH - 200) },
    inputs: { ...base, input_files: pairs((index) => [`in_${index}`, "svc_id://x"]) },
    outputs: { ...base, output_files: pairs((index) => [`out_${index}`, `${index}.mp4`]) },
    "outputs with one name": {
      ...base,
      output_files: pairs((index) => [`out_${index}`, "%d.png"]),
    },
    metadata: { ...base, metadata: pairs((index) => [`key ${index}`, "value"]) },
    "a long line": { ...base, ffmpeg_command: `ffmpeg ${"a ".repeat(BODY_LENGTH / 2 - 200)}` },
    "long lines": {
      ...base,
      ffmpeg_command: undefined,
      ffmpeg_commands: Array.from({ length: 300 }, () => line),
    },
    "empty lines": { ...base, ffmpeg_commands: Array.from({ length: 300_000 }, () => "") },
    "deep nesting": JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`),
  }
}

it.each(named)("%s answers the largest bodies in bounded time", async (_, { path }) => {
  for (const [what, body] of Object.entries(largeBodies())) {
    const answer = await caller.post(path, body)
    const { length } = await answer.text()
    expect.soft([what, answer.status < 500, length < ANSWER_LENGTH_MAX]).toEqual([what, true, true])
  }
})
