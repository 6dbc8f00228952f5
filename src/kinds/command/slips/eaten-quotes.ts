import { checkGraphs } from "../facts/check-graphs.ts"
import { readCommand } from "../../../contract/command-line.ts"
import { isFilterArgument } from "../../../contract/tasks/command.ts"
import type { Refusal } from "../policy/refusal.ts"
import { shown } from "./written.ts"
import type { Written } from "./written.ts"

/**
 * Graphs whose own quotes were taken off as a shell takes them, and that are right with them: sentences
 * by the option that has the graph.
 */
export function explainQuotes({ words, raws, known }: Written): Refusal[] {
  if (!known) return []
  const maps = words.flatMap((word, index) => (words[index - 1] === "-map" ? ["-map", word] : []))
  return raws.flatMap((raw, index) => {
    const option = words[index - 1] ?? ""
    if (!/'/.test(raw) || /^["']/.test(raw) || !isFilterArgument(words, index)) return []
    const kept = raw.replace(/\\(?=[()[\]"$ ])/g, "")
    const alone = readCommand([option, kept, ...maps, "x.mp4"])
    if (checkGraphs(alone, known).some((refusal) => refusal.option === option)) return []
    const message = `${option}: the quotes within the graph are taken off, as a shell does, and what they held falls apart; put the whole graph into double quotes: ${shown(`${option} "${kept}"`)}`
    return [{ code: "filter_error", option, message }]
  })
}
