import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { findCapabilityRefusals } from "../../../../src/kinds/command/facts/check-command.ts"
import { sampleCases } from "../../../support/wide.ts"
import { ALLOWED } from "../../../ffmpeg/policy/allowed-cases.ts"
import { wordsOf } from "../../../ffmpeg/policy/ask.ts"
import { judgeWrong, known } from "./create-wrong.ts"
import { ENDING, ENDLESS } from "./endless.ts"
import { RIGHT, UNCERTAIN } from "./right.ts"
import { startRuns } from "./run-wrong.ts"
import { WRONG_CODECS } from "./wrong-codecs.ts"
import { WRONG_GRAPHS } from "./wrong-graphs.ts"
import { WRONG_OPTIONS } from "./wrong-options.ts"
import { EMPTY, SUCCEEDING, WRONG_OUTPUTS } from "./wrong-outputs.ts"
import { WRONG_SIZES } from "./wrong-sizes.ts"
import { WRONG_SLIPS } from "./wrong-slips.ts"
import { WRONG_STREAMS } from "./wrong-streams.ts"
import { WRONG_VALUES } from "./wrong-values.ts"

const WRONG = [
  WRONG_OPTIONS,
  WRONG_VALUES,
  WRONG_CODECS,
  WRONG_GRAPHS,
  WRONG_STREAMS,
  WRONG_SIZES,
  WRONG_OUTPUTS,
  WRONG_SLIPS,
  EMPTY,
].flat()
const RUN_SECONDS_MAX = 60
const ENDLESS_SECONDS_MAX = 1
/** Sampling rate in `npm test`: one of this many lines is run. */
const SAMPLE = 40

let runs: Awaited<ReturnType<typeof startRuns>>

beforeAll(async () => {
  runs = await startRuns()
})

afterAll(() => runs.close())

const atCreate = WRONG.filter(([line]) => judgeWrong(line).length > 0)
const atRun = WRONG.filter(([line]) => judgeWrong(line).length === 0)

describe("a wrong command is refused at the create, with the remedy", () => {
  test.for(atCreate)("%s", ([line, remedy]) => {
    expect(judgeWrong(line).join("\n")).toContain(remedy)
  })

  test("in common cases", () => {
    expect(atCreate.length).toBeGreaterThan(150)
  })
})

describe("a wrong command that a create accepts fails, with the remedy", () => {
  test.for(sampleCases(atRun, SAMPLE))("%s", async ([line, remedy]) => {
    expect((await runs.run(line, RUN_SECONDS_MAX)).message).toContain(remedy)
  })
})

const endlessAtRun = ENDLESS.filter(([line]) => judgeWrong(line).length === 0)

describe("an endless command is stopped, and its failure names the endless part", () => {
  test.for(ENDLESS.filter(([line]) => judgeWrong(line).length > 0))("%s", ([line, named]) => {
    expect(judgeWrong(line)).toEqual([expect.stringMatching(/would never finish; write -t/)])
    expect(judgeWrong(line).join()).toContain(named)
  })

  test.for(sampleCases(endlessAtRun, SAMPLE))("%s", async ([line, named]) => {
    const { code, message } = await runs.run(line, ENDLESS_SECONDS_MAX)
    expect([code, message]).toEqual(["time_limit", expect.stringContaining(named)])
  })
})

/**
 * Lines that the policy allows but the test's ffmpeg cannot run: a missing filter, or a value
 * without escapes.
 */
const NOT_DONE = /libvmaf|-metadata -report|text='http:|min\(zoom|max\(iw/

describe("a command that ffmpeg completes is not refused", () => {
  test("in the cases of the policy's tests", () => {
    const lines = Object.values(ALLOWED)
      .flat()
      .filter((line) => !NOT_DONE.test(line))
    expect(lines.length).toBeGreaterThan(100)
    expect(
      lines.flatMap((line) => findCapabilityRefusals(wordsOf(line), known, new Map())),
    ).toEqual([])
  })

  test.for([...RIGHT, ...UNCERTAIN, ...SUCCEEDING, ...ENDING])("%s", (line) => {
    expect(judgeWrong(line)).toEqual([])
    expect(judgeWrong(line, false)).toEqual([])
  })

  test.for(sampleCases([...RIGHT, ...ENDING], SAMPLE))("and is completed: %s", async (line) => {
    const { code, message } = await runs.run(line, RUN_SECONDS_MAX)
    expect([code, message]).toEqual(["finished", ""])
  })
})

test.for(sampleCases(SUCCEEDING, SAMPLE))(
  "a mistake that some builds complete: %s",
  async (line) => {
    const { code, message } = await runs.run(line, RUN_SECONDS_MAX)
    expect(`${code} ${message}`).toMatch(/^finished |write more than 0 frames/)
  },
)

test("the refusal of a removed option names its replacement", () => {
  expect(judgeWrong("-i in_1 -map_channel 0.0.0 out.wav")).toEqual([
    expect.stringContaining('write `-af "pan=mono|c0=c0"`'),
  ])
})
