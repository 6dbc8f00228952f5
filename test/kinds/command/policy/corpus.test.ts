import { describe, expect, test } from "vitest"
import { checkByFacts } from "../../../../src/kinds/command/facts/check-command.ts"
import image from "../../../../src/kinds/command/facts/image.json" with { type: "json" }
import { openFacts } from "../../../../src/kinds/command/facts/known.ts"
import { checkCommand } from "../../../../src/kinds/command/policy/check.ts"
import { COMMAND_TERMS } from "../../../../src/kinds/command/policy/terms.ts"
import { substitute } from "../../../../src/contract/tasks/command.ts"
import { inputName } from "../../../../src/contract/task.ts"
import { splitWords } from "../../../../src/kinds/command/lines.ts"
import { outputsOf } from "../../../corpus/attack.ts"
import { ATTACKS } from "../../../corpus/hostile-commands.ts"
import { LEGITIMATE } from "../../../corpus/legitimate.ts"
import type { Work } from "../../../corpus/work.ts"

const PLACE = {
  outside: "/tmp/outside",
  name: "marker",
  work: "/tmp/work",
  state: "/tmp/state",
  tcpPort: 4000,
  udpPort: 4001,
  unixPath: "/tmp/outside/socket",
}

/** Attacks inside an input: no command shows them, and only the sandbox stops them. */
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

function check(
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
    terms: COMMAND_TERMS,
  }
  return [commands].flat().flatMap((line) => {
    const split = splitWords(line)
    if ("error" in split) throw new Error(split.error)
    const words = split.words[0] === "ffmpeg" ? split.words.slice(1) : split.words
    return checkCommand(substitute(words, names), known)
  })
}

const ffmpeg = openFacts(image)

/** What the image's ffmpeg itself would refuse of the lines of a work. */
function checkByImage({ run, inputs = {}, outputs }: Work) {
  const brought = Object.entries(inputs).map(([key, name]) => [key, inputName(key, name)] as const)
  const names = new Map([...brought, ...Object.entries(firsts(outputs))])
  return [run].flat().flatMap((line) => {
    const split = splitWords(line)
    if ("error" in split) throw new Error(split.error)
    const words = split.words[0] === "ffmpeg" ? split.words.slice(1) : split.words
    return checkByFacts(substitute(words, names), ffmpeg, new Map())
  })
}

/** The first entry, a name, of each array in a map. */
function firsts(map: Record<string, readonly [string, ...unknown[]]>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, [name]]) => [key, name]))
}

describe("legitimate commands pass", () => {
  test.for(LEGITIMATE.map((work) => [work.name, work] as const))("%s", ([, work]) => {
    expect(check(work.run, work.inputs ?? {}, firsts(work.outputs))).toEqual([])
    expect(checkByImage(work)).toEqual([])
  })
})

const attacks = Object.values(ATTACKS).flat()

test("hostile commands are refused, unless the attack is inside an input", () => {
  const passed = attacks.filter((attack) => {
    const brought = firsts(attack.inputs?.(PLACE) ?? {})
    return check(attack.words(PLACE), brought, outputsOf(attack)).length === 0
  })
  expect(passed.map(({ name }) => name)).toEqual(WITHIN_INPUTS)
  expect(attacks.length).toBeGreaterThan(150)
})
