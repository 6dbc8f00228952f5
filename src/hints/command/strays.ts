import { nameOf, readCommand } from "../../contract/command-line.ts"
import { muxersOf } from "../../kinds/command/facts/codecs.ts"
import { kindOfOption } from "../../kinds/command/policy/options.ts"
import type { Refusal } from "../../kinds/command/policy/refusal.ts"
import { shown } from "../hint-table.ts"
import { correctGraph } from "./graphs.ts"
import { BLANK, findLineHint, keyOf, lineOf, namedKeys } from "./line.ts"
import type { LineHint, Written } from "./line.ts"

const TIME = String.raw`^ (-(?:ss|t|to|sseof|itsoffset)) (\d+) `
const VALUE = String.raw`^ (-[a-z]\S*) (\S*\d) `
/** The words of a value, up to the next option or key. */
const WORDS = String.raw`\S+(?: (?!-[a-z]|\{\{)\S+)+`
const ONE_WORD = "a value is one word, without a space; write"

/** Words that no option takes: each line begins with the two words before the stray one. */
const STRAYS: readonly LineHint[] = [
  [/^ \S* (-(?!i )[a-z]\S*) (\S+)/i, "`$1` stands alone, and takes no value; leave out `$2`"],
  [/^ -s (\d+) (\d+) /, `${ONE_WORD} \`-s $1x$2\``],
  [/^ -preset (\w+) (fast|slow|er|est) /, `${ONE_WORD} \`-preset $1$2\``],
  [new RegExp(`${TIME}m(?:in\\w*)? `, "i"), `${ONE_WORD} \`$1 $2:00\``],
  [new RegExp(`${TIME}h\\w* `, "i"), `${ONE_WORD} \`$1 $2:00:00\``],
  [new RegExp(`${TIME}s(?:ec\\w*)? `, "i"), `${ONE_WORD} \`$1 $2\``],
  [new RegExp(`${VALUE}k(?:b\\S*)? `, "i"), `${ONE_WORD} \`$1 $2k\``],
  [new RegExp(`${VALUE}m(?:b\\S*)? `, "i"), `${ONE_WORD} \`$1 $2M\``],
  [new RegExp(`${VALUE}db `, "i"), `${ONE_WORD} \`$1 $2dB\``],
  [/^ (-(?:c|codec|b|q|r|filter|profile|frames)) ([vas]) (\S+)/, `${ONE_WORD} \`$1:$2 $3\``],
  [
    /^ (-map|-metadata\S*) \S+ (\[\S+\]|\d+(?::\S*)?|\w+=\S+) /,
    "`$2` stands without its option; write `$1 $2`",
  ],
  [
    new RegExp(String.raw`^ (-metadata\S*) (\w+) ?= ?(${WORDS}|\S+)`),
    'a value is one word, and quotes keep its spaces; write `$1 $2="$3"`',
  ],
]

/** The refusal of the first word that no option takes for its value, so that it would be an output. */
export function explainStrays(written: Written): Refusal[] {
  const place = findStray(written)
  if (place < 0) return []
  const { words } = written
  const [option = "", before = ""] = [words[place - 2], words[place - 1]]
  const line = lineOf([option, before, ...words.slice(place)])
  return [
    findLineHint(line, STRAYS, "invalid_option") ??
      cutGraph(option, line, written) ??
      lonelyWord(words[place] ?? "", written),
  ]
}

function findStray({ words, outputKeys, inputKeys, known }: Written): number {
  const { files } = readCommand(words)
  const stray = files.find((file, index) => {
    const { kind, word, options } = file
    if (kind !== "output" || word === "-" || word === "/dev/null") return false
    if ([...outputKeys, ...inputKeys].includes(keyOf(word))) return false
    if (options.some(({ name }) => name === "f")) return false
    const isFile = /^[\w./\\~-]+\.\w+$/.test(word) && (!known || muxersOf(file, known) !== null)
    const mayBeName = index === files.length - 1 && /^(?!\d)[\w.{}/\\~:-]{3,}$/.test(word)
    return !isFile && !mayBeName
  })
  return stray === undefined ? -1 : words.indexOf(stray.word)
}

/** A graph that spaces divide into words. */
function cutGraph(option: string, line: string, written: Written): Refusal | null {
  if (!/^-[a-z]/i.test(option) || kindOfOption(nameOf(option)) !== "graph") return null
  const value = new RegExp(`^ \\S+ (${WORDS})`).exec(line)?.[1] ?? ""
  const graph = value.replaceAll(BLANK, " ")
  const corrected = correctGraph(option, graph, written)
  const message =
    corrected === null
      ? `a space divides the graph of ${shown(option)}; put the whole graph into double quotes: ${shown(`${option} "${graph.replaceAll('"', "'")}"`)}`
      : `${option}: ${corrected}`
  return { code: "filter_error", option, message }
}

function lonelyWord(word: string, written: Written): Refusal {
  const isEnded = written.outputKeys.includes(keyOf(written.words.at(-1) ?? ""))
  const end = isEnded ? "" : `, and end the command with \`${namedKeys(written)["out"]}\``
  const message = `${shown(word)} belongs to no option, and so it is taken for an output; leave it out, or write its option before it${end}`
  return { code: "name_not_allowed", message }
}
