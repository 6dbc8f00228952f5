import { GLOBAL_FLAGS, PRINTING_FLAGS } from "../../../ffmpeg/command-line.ts"
import type { CommandFile, CommandOption } from "../../../ffmpeg/command-line.ts"
import { findNearestName } from "../../../hints/nearest-name.ts"
import { findOptionValueKind, findOptionRefusalReason } from "../../../ffmpeg/policy/options.ts"
import { findEncoder } from "./codecs.ts"
import { findOption } from "./capabilities.ts"
import type { FfmpegCapabilities, FfmpegOption } from "./capabilities.ts"
import { isUnlistedOption } from "./unlisted-options.ts"
import { suggestOption } from "./option-suggestions.ts"

const VALUELESS_OPTIONS = new Set(`${GLOBAL_FLAGS} ${PRINTING_FLAGS}`.split(" "))

/** Reports whether ffmpeg or one of its libraries has an option of this name. */
export function isKnownOption(name: string, capabilities: FfmpegCapabilities): boolean {
  const plain = name.replace(/^no/, "")
  if (
    capabilities.names("options").has(name) ||
    isUnlistedOption(name) ||
    VALUELESS_OPTIONS.has(name)
  )
    return true
  if (capabilities.names("options").has(plain) || VALUELESS_OPTIONS.has(plain)) return true
  if (findOptionValueKind(name) !== null) return true
  if (findGenericOption(["codec", "codecs", "format", "formats", "sws", "swr"], name, capabilities))
    return true
  return /^[vas]/.test(name) && findGenericOption(["codec"], name.slice(1), capabilities) !== null
}

/**
 * Returns the option of this name in tables of options that several components share, such as the
 * table `codec`. Returns null if no table has the option.
 */
export function findGenericOption(
  tables: readonly string[],
  name: string,
  capabilities: FfmpegCapabilities,
): FfmpegOption | null {
  for (const table of tables) {
    const option = findOption(capabilities.find("generic", table)?.options ?? [], name)
    if (option) return option
  }
  return null
}

/** Describes why an option is unknown, with the remedy. The text omits the option's name. */
export function describeUnknownOption(
  option: CommandOption,
  file: CommandFile,
  capabilities: FfmpegCapabilities,
): string {
  const twoWords = splitOption(option.word, capabilities)
  if (twoWords !== null) return `an option and its value are two words; write \`${twoWords}\``
  if (!/^-+[a-z0-9]/i.test(option.word)) return "ffmpeg has no such option; leave it out"
  const remedy = suggestOption(option, capabilities)
  if (remedy !== null) return `ffmpeg has no such option; ${remedy}`
  const nearest = nearestOption(option.name, file, capabilities)
  if (nearest === null) return "ffmpeg has no such option; leave it out, or correct its name"
  return `ffmpeg has no such option; did you mean \`-${nearest}\`?`
}

/**
 * Separates a value that is joined to its option: returns `-crf 23` for `-crf=23` and `-crf23`.
 * Returns null if the option is unknown.
 */
function splitOption(word: string, capabilities: FfmpegCapabilities): string | null {
  const [, chooses = "", encoder = ""] = /^(-c(?:odec)?:[vas]):([a-z].*)$/i.exec(word) ?? []
  if (encoder !== "") return `${chooses} ${encoder}`
  const [, name = "", value = ""] =
    /^--?([a-z][\w:-]*)=(.+)$/is.exec(word) ??
    /^-(i|[a-z]+(?::[a-z])?)([\d{].*)$/is.exec(word) ??
    []
  const plain = name.split(":", 1)[0] ?? ""
  return name !== "" && isKnownOption(plain, capabilities) ? `-${name} ${value}` : null
}

/** Returns the allowed option with the nearest name; null if no name is near. */
function nearestOption(
  name: string,
  file: CommandFile,
  capabilities: FfmpegCapabilities,
): string | null {
  const plain = name.replace(/^-/, "")
  if (plain !== name && isKnownOption(plain, capabilities)) return plain
  const generic = ["codec", "format", "codecs", "formats"].flatMap(
    (table) => capabilities.find("generic", table)?.options.flatMap(({ names }) => names) ?? [],
  )
  const encoderOptions = (["V", "A", "S"] as const).flatMap((medium) => {
    const encoder = capabilities.find("encoders", findEncoder(file, medium, capabilities) ?? "")
    return encoder?.options.flatMap(({ names }) => names) ?? []
  })
  const usualNames = [...capabilities.names("options"), "s", "i", ...encoderOptions]
  const usual = findNearestName(plain, usualNames.filter(isAllowed))
  return usual ?? findNearestName(plain, generic.filter(isAllowed))
}

function isAllowed(name: string): boolean {
  return findOptionRefusalReason(name) === null
}
