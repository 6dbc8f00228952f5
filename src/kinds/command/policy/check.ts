import { checkGraph } from "./check-graph.ts"
import { checkOption, judgeInnerOption } from "./check-options.ts"
import type { OptionContext } from "./check-options.ts"
import { judgeFile } from "./file-names.ts"
import type { WorkspaceNames } from "./file-names.ts"
import { isGlobal } from "./options.ts"
import { PRINTING_FLAGS, readCommand } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile } from "../../../contract/command-line.ts"
import { REFUSALS_MAX } from "./refusal.ts"
import type { Refusal } from "./refusal.ts"
import { checkWords } from "../../../hints/command/words.ts"
import type { Terms } from "./terms.ts"
import { readPairs, readToken } from "./tokens.ts"

const PRINTING = new Set(PRINTING_FLAGS.split(" "))
const INPUTS_MAX = 64
const OUTPUTS_MAX = 64

/**
 * All that a command may not say, in the order of its words. Words come without the program, names
 * in the place of keys. The sandbox is what holds; this says beforehand what could only fail there.
 */
export function checkCommand(words: readonly string[], names: WorkspaceNames): Refusal[] {
  const wrong = checkWords(words)
  if (wrong.length > 0) return wrong.slice(0, REFUSALS_MAX)
  const command = readCommand(words)
  return [
    ...command.files.flatMap((file) => checkFile(file, names)),
    ...command.trailing.flatMap((option) => checkOption(option, { kind: "output", names })),
    ...checkShape(command, names),
  ].slice(0, REFUSALS_MAX)
}

function checkFile(file: ReadFile, names: WorkspaceNames): Refusal[] {
  const place: OptionContext = { kind: file.kind, names }
  const options = file.options.flatMap((option) => checkOption(option, place))
  if (file.kind === "decoder") return options
  const word = file.kind === "input" ? checkInput(file, place) : checkOutput(file, place)
  return [...options, ...word]
}

function checkInput({ word, options }: ReadFile, place: OptionContext): Refusal[] {
  const format = formatOf(options)
  const faults =
    format === "lavfi"
      ? checkGraph(word, place.names, (name, value) => judgeInnerOption(name, value, place))
      : partsOfInput(word)
          .map((name) => judgeFile(name, "input", place.names))
          .filter((fault) => fault !== null)
  return faults.map(({ code, message }) => ({ code, option: "-i", message: `-i: ${message}` }))
}

/** The files that an input is made of: those of `concat:a|b`, or one. */
function partsOfInput(word: string): string[] {
  const joined = /^concat:(.+)$/s.exec(word)?.[1]
  return joined === undefined ? [word] : joined.split("|")
}

function checkOutput({ word, options }: ReadFile, place: OptionContext): Refusal[] {
  const format = formatOf(options)
  if (word === "ffmpeg" && !place.names.outputs.has(word)) return [secondCommand(place.names.terms)]
  if (word === "/dev/null" || (format === "null" && /^(?:-|pipe:\d*|NUL)$/.test(word))) return []
  if (format === "tee") return checkTee(word, place)
  const fault = judgeFile(word, "output", place.names)
  return fault ? [{ code: fault.code, message: `output ${fault.message}` }] : []
}

function secondCommand({ giveSeveral }: Terms): Refusal {
  const message = `a second command begins here; ${giveSeveral}`
  return { code: "name_not_allowed", message }
}

/** What the outputs of `[f=mp4]a.mp4|b.mkv` may not say. */
function checkTee(word: string, place: OptionContext): Refusal[] {
  const refusals: Refusal[] = []
  for (let at = 0; at < word.length; at += 1) {
    const slave = readToken(word, at, "|")
    refusals.push(...checkTeeOutput(slave.token, place))
    at = slave.at
  }
  return refusals
}

function checkTeeOutput(slave: string, place: OptionContext): Refusal[] {
  const close = slave.startsWith("[") ? endOfTeeOptions(slave) : 0
  const pairs = readPairs(slave.slice(1, Math.max(1, close - 1)), ":")
  const faults = pairs.flatMap(({ name, value }) => judgeInnerOption(name ?? "", value, place))
  const isNull = pairs.findLast(({ name }) => name === "f")?.value.toLowerCase() === "null"
  const name = slave.slice(close)
  const fault = isNull || name === "/dev/null" ? null : judgeFile(name, "output", place.names)
  return [...faults, ...(fault ? [fault] : [])].map(({ code, message }) => ({
    code,
    message: `tee output ${message}`,
  }))
}

/** The place behind the bracket that ends a tee output's options. */
function endOfTeeOptions(slave: string): number {
  let { at } = readToken(slave, 1, ":]")
  while (slave.charAt(at) === ":") ({ at } = readToken(slave, at + 1, ":]"))
  return at + 1
}

/** The format that ffmpeg takes: the last one given, in any case of letters. */
function formatOf(options: ReadFile["options"]): string | null {
  return options.findLast(({ name }) => name === "f")?.value?.toLowerCase() ?? null
}

function checkShape({ files, trailing, lacking }: ReadCommand, names: WorkspaceNames): Refusal[] {
  const inputs = files.filter(({ kind }) => kind === "input").length
  const outputs = files.filter(({ kind }) => kind === "output").length
  const refusals: Refusal[] = trailing
    .filter(({ name }) => !isGlobal(name) && !PRINTING.has(name))
    .map(({ word, value }) => ({
      code: "trailing_option",
      option: word,
      message:
        value !== null && names.outputs.has(value)
          ? `${word} takes "${value}" as its value, so that is no output; give it a value of its own, or leave it out`
          : `${word} stands after the last output and means nothing there; put it before the output that it is for`,
    }))
  if (lacking !== null) {
    const message = `${lacking} lacks its value; write one after it`
    refusals.push({ code: "missing_value", option: lacking, message })
  }
  const prints = trailing.some(({ name }) => PRINTING.has(name))
  if (outputs === 0 && !prints) {
    const message = `the command has no output; ${names.terms.endWithOutput}`
    refusals.push({ code: "no_output", message })
  }
  if (inputs > INPUTS_MAX) {
    const message = `-i stands ${inputs} times; expected at most ${INPUTS_MAX} inputs`
    refusals.push({ code: "too_many_inputs", option: "-i", message })
  }
  if (outputs > OUTPUTS_MAX) {
    const message = `the command has ${outputs} outputs; expected at most ${OUTPUTS_MAX}`
    refusals.push({ code: "too_many_outputs", message })
  }
  return refusals
}
