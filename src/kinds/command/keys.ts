import { isKeptOutput, parseFfmpegCommand } from "../../ffmpeg/command-line.ts"
import {
  findFilePositions,
  KEY_PLACEHOLDER,
  replaceFileKeysByNames,
} from "../../ffmpeg/file-keys.ts"
import { makeDidYouMeanClause } from "../../hints/nearest-name.ts"
import type { CommandFault } from "../../domain/faults.ts"
import { COMMAND_REFUSALS_MAX } from "../../ffmpeg/policy/refusal.ts"
import type { CommandScript } from "./script.ts"

/**
 * Returns the faults of file keys in commands: keys that the request does not declare, and outputs
 * whose key is in no command.
 */
export function findFileKeyFaults(
  lines: readonly { field: string; words: string[] }[],
  { inputKeys, outputs, remedies }: CommandScript,
): CommandFault[] {
  const knownKeys = new Set([...inputKeys, ...outputs.map(({ key }) => key)])
  const usedKeys = new Set<string>()
  const unknown = lines.flatMap(({ field, words }) => {
    const keys = findFileKeysInCommand(words, knownKeys)
    for (const key of keys.known) usedKeys.add(key)
    return [...keys.unknown].map((key) => ({ field, key }))
  })
  const faults = unknown.slice(0, COMMAND_REFUSALS_MAX).map(({ field, key }) => ({
    field,
    code: "unknown_key" as const,
    message: `"${key}" ${remedies.isUnknown}${suggestKey(key, knownKeys, outputs)}`,
  }))
  // An undeclared key is probably a misspelled output key, so that the fault of an unused output
  // would repeat the same mistake.
  if (faults.length > 0) return faults
  return outputs.flatMap(({ key, field }): CommandFault[] => {
    if (usedKeys.has(key)) return findExtendedKey(key, lines)
    return [{ field, code: "unused_output", message: describeUnusedOutput(key, lines) }]
  })
}

function describeUnusedOutput(key: string, lines: readonly { words: string[] }[]): string {
  const { files } = parseFfmpegCommand(lines.at(-1)?.words ?? [])
  const last = files.at(-1)
  const instead = last?.kind === "output" && /^[\w .%-]+\.\w+$/.test(last.word) ? last.word : null
  if (instead !== null)
    return `no command names this output; write \`{{${key}}}\` instead of \`${instead}\``
  const leave = files.some(isKeptOutput)
    ? ""
    : ", or leave it out, since the last command keeps no file"
  return `no command names this output; write {{${key}}} where its file goes${leave}`
}

/**
 * Returns the fault of an output whose key the commands use only with an added extension, as in
 * `{{key}}.mp4`. ffmpeg would write a file of another name.
 */
function findExtendedKey(
  key: string,
  lines: readonly { field: string; words: string[] }[],
): CommandFault[] {
  const uses = lines.flatMap(({ field, words }) => {
    return words.flatMap((word) => {
      return word === key || word.includes(`{{${key}}}`) ? [{ field, word }] : []
    })
  })
  const [first] = uses
  if (!first || !uses.every(({ word }) => /^\{\{\w+\}\}\.\w+$/.test(word))) return []
  const message = `\`${first.word}\` writes a file that is not an output; write \`{{${key}}}\` alone, since the extension is a part of its name`
  return [{ field: first.field, code: "unused_output", message }]
}

/**
 * Suggests a declared key for an undeclared one: the key of the output with this file name, or a
 * similar key with the same digits.
 */
function suggestKey(
  key: string,
  declared: ReadonlySet<string>,
  outputs: CommandScript["outputs"],
): string {
  const output = outputs.find(({ name }) => name === key)
  if (output) return `; did you mean \`{{${output.key}}}\`?`
  const side = /^(?:in|out)/i.exec(key)?.[0].toLowerCase()
  const ofSide = [...declared].filter((each) => side !== undefined && each.startsWith(`${side}_`))
  const isPlain = /^(?:in|out)(?:put)?(?:_?(?:file|video|audio|1))?$/i.test(key)
  if (isPlain && ofSide.length === 1) return `; did you mean \`{{${ofSide[0] ?? ""}}}\`?`
  const digits = key.replace(/\D/g, "")
  const sameDigits = [...declared].filter((each) => each.replace(/\D/g, "") === digits)
  return makeDidYouMeanClause(key, sameDigits, (name) => `\`{{${name}}}\``)
}

/**
 * Returns the keys that a command names, as declared keys (`known`) and undeclared keys
 * (`unknown`). Excludes file names that an option writes, although such names may look like keys.
 */
export function findFileKeysInCommand(words: readonly string[], declared: ReadonlySet<string>) {
  const known = new Set<string>()
  replaceFileKeysByNames(words, {
    get(key) {
      if (declared.has(key)) known.add(key)
      return undefined
    },
  })
  const inBraces = words.flatMap((word) => {
    return Array.from(word.matchAll(KEY_PLACEHOLDER), ([, key = ""]) => key)
  })
  const bare = findFilePositions(words).flatMap(({ text, use }) => {
    return use !== "write" && /^(?:in|out)_[A-Za-z0-9_]+$/.test(text) ? [text] : []
  })
  const unknown = [...inBraces, ...bare].filter((key) => !declared.has(key))
  return { known, unknown: new Set(unknown) }
}
