import { describe, expect, test } from "vitest"
import { findCapabilityRefusals } from "../../../src/kinds/command/facts/check-command.ts"
import image from "../../../src/kinds/command/facts/image.json" with { type: "json" }
import { createCapabilities } from "../../../src/kinds/command/facts/capabilities.ts"
import { findPolicyRefusals } from "../../../src/ffmpeg/policy/check.ts"
import { COMMAND_REMEDIES } from "../../../src/ffmpeg/policy/remedies.ts"
import { replaceFileKeysByNames } from "../../../src/ffmpeg/file-keys.ts"
import { makeWorkspaceInputName } from "../../../src/contract/task.ts"
import { splitWords } from "../../../src/kinds/command/lines.ts"
import { outputsOf } from "../../corpus/attack.ts"
import { ATTACKS } from "../../corpus/hostile-commands.ts"
import { LEGITIMATE } from "../../corpus/legitimate.ts"
import type { Work } from "../../corpus/work.ts"

const PLACE = {
  outside: "/tmp/outside",
  name: "marker",
  work: "/tmp/work",
  state: "/tmp/state",
  tcpPort: 4000,
  udpPort: 4001,
  unixPath: "/tmp/outside/socket",
}

/**
 * Attacks inside an input. The command does not show them; the runner stops them as it reads the
 * input, or the sandbox does.
 */
const WITHIN_INPUTS = [
  "a list with an absolute path",
  "a list with a path with ../",
  "a list with file:",
  "a list without -f concat",
  "a list in a list",
  "a playlist with the name of a film",
  "a playlist with file://",
  "a playlist by the source movie",
  "a manifest with the name of a film",
  "such a movie, with an empty whitelist",
  "a script of a graph within an input",
  "a list of a file that is no list",
  "a key of HLS in an input",
  "a key of HLS that an input names as a file",
  "a key of HLS that an input names with NULs",
  "a text of drawtext in a graph file",
  "a key for HLS",
  "a key for HLS by a URL that is fetched",
  "a graph file",
  "a list with options of its own",
]

function check(
  commands: string | string[],
  fileNames: Record<string, string>,
  outputNames: Record<string, string>,
) {
  const inputs = Object.entries(fileNames).map(
    ([key, name]) => [key, makeWorkspaceInputName(key, name)] as const,
  )
  const names = new Map([...inputs, ...Object.entries(outputNames)])
  const known = {
    inputs: new Set(inputs.map(([, name]) => name)),
    outputs: new Set(Object.values(outputNames)),
    remedies: COMMAND_REMEDIES,
  }
  return [commands].flat().flatMap((line) => {
    const split = splitWords(line)
    if ("error" in split) throw new Error(split.error)
    const words = split.words[0] === "ffmpeg" ? split.words.slice(1) : split.words
    return findPolicyRefusals(replaceFileKeysByNames(words, names), known)
  })
}

const ffmpeg = createCapabilities(image)

/** Returns the refusals by the capabilities of the image's ffmpeg. */
function checkByImage({ run, inputs = {}, outputs }: Work) {
  const brought = Object.entries(inputs).map(
    ([key, name]) => [key, makeWorkspaceInputName(key, name)] as const,
  )
  const names = new Map([...brought, ...Object.entries(firsts(outputs))])
  return [run].flat().flatMap((line) => {
    const split = splitWords(line)
    if ("error" in split) throw new Error(split.error)
    const words = split.words[0] === "ffmpeg" ? split.words.slice(1) : split.words
    return findCapabilityRefusals(replaceFileKeysByNames(words, names), ffmpeg, new Map())
  })
}

/** Returns the first entry, a name, of each array in a map. */
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
