import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { checkByFacts } from "../../../../src/kinds/command/facts/check-command.ts"
import { widely } from "../../../support/wide.ts"
import { ALLOWED } from "../policy/allowed-cases.ts"
import { wordsOf } from "../policy/ask.ts"
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
/** Of the lines that the run judges, one of so many runs in `npm test`. */
const SAMPLE = 40

let runs: Awaited<ReturnType<typeof startRuns>>

beforeAll(async () => {
  runs = await startRuns()
})

afterAll(() => runs.close())

/** One of some lines in `npm test`, and all of them in `npm run test:commands`. */
function sampled<Line>(lines: readonly Line[]): Line[] {
  return widely(
    lines.filter((_, place) => place % SAMPLE === 0),
    lines.filter((_, place) => place % SAMPLE > 0),
  )
}

const atCreate = WRONG.filter(([line]) => judgeWrong(line).length > 0)
const atRun = WRONG.filter(([line]) => judgeWrong(line).length === 0)

describe("a wrong command is refused at the create, with what to write", () => {
  test.for(atCreate)("%s", ([line, remedy]) => {
    expect(judgeWrong(line).join("\n")).toContain(remedy)
  })

  test("in common cases", () => {
    expect(atCreate.length).toBeGreaterThan(150)
  })
})

describe("a wrong command that a create takes fails, with what to write", () => {
  test.for(sampled(atRun))("%s", async ([line, remedy]) => {
    expect((await runs.run(line, RUN_SECONDS_MAX)).message).toContain(remedy)
  })
})

const endlessAtRun = ENDLESS.filter(([line]) => judgeWrong(line).length === 0)

describe("a command without an end ends, and names what has none", () => {
  test.for(ENDLESS.filter(([line]) => judgeWrong(line).length > 0))("%s", ([line, named]) => {
    expect(judgeWrong(line)).toEqual([expect.stringMatching(/would never be done; write -t/)])
    expect(judgeWrong(line).join()).toContain(named)
  })

  test.for(sampled(endlessAtRun))("%s", async ([line, named]) => {
    const { code, message } = await runs.run(line, ENDLESS_SECONDS_MAX)
    expect([code, message]).toEqual(["time_limit", expect.stringContaining(named)])
  })
})

/** Lines that the policy allows, and that ffmpeg would not do: with a filter that is not built in, or unescaped. */
const NOT_DONE = /libvmaf|-metadata -report|text='http:|min\(zoom|max\(iw/

describe("a command that ffmpeg completes is not refused", () => {
  test("of the policy's own cases", () => {
    const lines = Object.values(ALLOWED)
      .flat()
      .filter((line) => !NOT_DONE.test(line))
    expect(lines.length).toBeGreaterThan(100)
    expect(lines.flatMap((line) => checkByFacts(wordsOf(line), known, new Map()))).toEqual([])
  })

  test.for([...RIGHT, ...UNCERTAIN, ...SUCCEEDING, ...ENDING])("%s", (line) => {
    expect(judgeWrong(line)).toEqual([])
    expect(judgeWrong(line, false)).toEqual([])
  })

  test.for(sampled([...RIGHT, ...ENDING]))("and is completed: %s", async (line) => {
    const { code, message } = await runs.run(line, RUN_SECONDS_MAX)
    expect([code, message]).toEqual(["finished", ""])
  })
})

test.for(sampled(SUCCEEDING))("a mistake that some builds complete: %s", async (line) => {
  const { code, message } = await runs.run(line, RUN_SECONDS_MAX)
  expect(`${code} ${message}`).toMatch(/^finished |write more than 0 frames/)
})

test("an option that newer versions have no more is told with what does it", () => {
  expect(judgeWrong("-i in_1 -map_channel 0.0.0 out.wav")).toEqual([
    expect.stringContaining('write `-af "pan=mono|c0=c0"`'),
  ])
})
