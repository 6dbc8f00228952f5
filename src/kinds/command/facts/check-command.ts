import { readCommand } from "../../../contract/command-line.ts"
import { firstFaults } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import { checkCodecs } from "./check-codecs.ts"
import { checkEnds } from "./check-ends.ts"
import { checkGraphs, graphsOf } from "./check-graphs.ts"
import { checkOptions, checkTrailing } from "./check-options.ts"
import { checkStreams } from "./check-streams.ts"
import type { Probes } from "./check-streams.ts"
import type { Known } from "./known.ts"
import { checkSizes } from "./odd-sizes.ts"

/**
 * Refuses what an ffmpeg would certainly not do of a command, as far as names, labels, streams and
 * common faults tell it; all else is left to the run. Words come with names in the place of keys, and
 * probes are by the names of inputs.
 */
export function checkByFacts(words: readonly string[], known: Known, probes: Probes): Refusal[] {
  const command = readCommand(words)
  const graphs = graphsOf(command)
  return [
    ...firstFaults(command.files, (file) => [
      ...checkOptions(file, known),
      ...checkCodecs(file, known),
    ]),
    ...firstFaults(command.trailing, (option) => checkTrailing(option, known)),
    ...checkGraphs(command, graphs, known),
    ...checkStreams(command, graphs, probes),
    ...checkSizes(command, known, probes),
    ...checkEnds(command, known, probes),
  ]
}
