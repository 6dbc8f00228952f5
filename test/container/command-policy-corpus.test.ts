import { describe, expect, test } from "vitest"
import { splitWords, substitute } from "../../src/contract/command-line.ts"
import { checkCommand } from "../../src/contract/command-policy/check.ts"
import { inputName } from "../../src/contract/task.ts"
import { outputsOf } from "../corpus/attack.ts"
import { ATTACKS } from "../corpus/hostile-commands.ts"
import { LEGITIMATE } from "../corpus/legitimate.ts"

const PLACE = {
  outside: "/tmp/outside",
  name: "marker",
  work: "/tmp/work",
  state: "/tmp/state",
  tcpPort: 4000,
  udpPort: 4001,
  unixPath: "/tmp/outside/socket",
}

/** Attacks that lie within an input: no command says them, and only the sandbox holds them. */
const WITHIN_INPUTS = [
  "a list with an absolute path",
  "a list with a path that climbs",
  "a list with file:",
  "a list that is not asked for",
  "a list in a list",
  "a playlist that is called a film",
  "a playlist with file://",
  "a playlist by the source movie",
  "a manifest that is called a film",
  "such a movie, with nothing allowed",
  "a list in a list that is none",
  "a list with options of its own",
]

function judge(
  commands: string | string[],
  fileNames: Record<string, string>,
  outputNames: Record<string, string>,
) {
  const inputs = Object.entries(fileNames).map(
    ([key, name]) => [key, inputName(key, name)] as const,
  )
  const names = new Map([...inputs, ...Object.entries(outputNames)])
  const known = {
    inputs: new Set(inputs.map(([, name]) => name)),
    outputs: new Set(Object.values(outputNames)),
  }
  return [commands].flat().flatMap((line) => {
    const split = splitWords(line)
    if ("error" in split) throw new Error(split.error)
    const words = split.words[0] === "ffmpeg" ? split.words.slice(1) : split.words
    return checkCommand(substitute(words, names), known)
  })
}

/** The names in a map of arrays that begin with one. */
function firsts(map: Record<string, readonly [string, ...unknown[]]>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, [name]]) => [key, name]))
}

describe("what a user may well send passes", () => {
  test.for(LEGITIMATE.map((work) => [work.name, work] as const))("%s", ([, work]) => {
    expect(judge(work.run, work.inputs ?? {}, firsts(work.outputs))).toEqual([])
  })
})

const attacks = Object.values(ATTACKS).flat()

test("what a hostile user sends is refused, unless it lies within an input", () => {
  const passed = attacks.filter((attack) => {
    const brought = firsts(attack.inputs?.(PLACE) ?? {})
    return judge(attack.words(PLACE), brought, outputsOf(attack)).length === 0
  })
  expect(passed.map(({ name }) => name)).toEqual(WITHIN_INPUTS)
  expect(attacks.length).toBeGreaterThan(150)
})
