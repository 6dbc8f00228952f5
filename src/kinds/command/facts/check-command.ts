import { readCommand } from "../../../contract/command-line.ts"
import { firstFaults } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import { checkCodecs } from "./check-codecs.ts"
import { checkGraphs, checkPadCount } from "./check-graphs.ts"
import { checkInputs } from "./check-inputs.ts"
import { checkOptions, checkTrailing } from "./check-options.ts"
import { checkOutputs } from "./check-outputs.ts"
import { checkPairs } from "./check-pairs.ts"
import { checkDrawn, checkLists, checkStreams } from "./check-streams.ts"
import type { Probes } from "./check-streams.ts"
import { checkDefaults } from "./default-streams.ts"
import { checkLimits } from "./encoder-limits.ts"
import { checkEnds } from "./endless/check-ends.ts"
import { checkFirstPass } from "./first-pass.ts"
import type { Known } from "./known.ts"
import { checkSizes } from "./odd-sizes.ts"
import { checkCounts } from "./stream-counts.ts"

/**
 * What the ffmpeg that is there would certainly not do of a command, whose words come with names in the
 * place of keys; what it may do passes. Probes are by the names of inputs; `isFirst` says that no command
 * before it may have written files.
 */
export function checkByFacts(
  words: readonly string[],
  known: Known,
  probes: Probes,
  { isFirst = false }: { isFirst?: boolean } = {},
): Refusal[] {
  const command = readCommand(words)
  const tooComplex = checkPadCount(command, known)
  if (tooComplex) return [tooComplex]
  return [
    ...firstFaults(command.files, (file) => [
      ...checkOptions(file, known),
      ...checkPairs(file, known),
      ...checkCodecs(file, known),
    ]),
    ...firstFaults(command.trailing, (option) => checkTrailing(option, known)),
    ...checkGraphs(command, known),
    ...checkStreams(command, probes),
    ...checkDrawn(command, probes),
    ...checkDefaults(command, known, probes),
    ...checkCounts(command, known, probes),
    ...checkLists(command, probes),
    ...checkInputs(command, probes),
    ...checkOutputs(command, known, probes),
    ...checkLimits(command, known, probes),
    ...checkSizes(command, known, probes),
    ...checkEnds(command, known, probes),
    ...(isFirst ? checkFirstPass(command) : []),
  ]
}
