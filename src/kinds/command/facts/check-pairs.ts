import { lastValue } from "../../../contract/command-line.ts"
import type { ReadFile, ReadOption } from "../../../contract/command-line.ts"
import { parseTime } from "../../../contract/media-time.ts"
import { didYouMean } from "../../../suggest.ts"
import { firstFaults, quote } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import { findOption } from "./known.ts"
import type { Known } from "./known.ts"
import { expectedInstead } from "./values.ts"

/** What no ffmpeg takes of the values that are lists or have a form of their own. */
export function checkPairs(file: ReadFile, known: Known): Refusal[] {
  const faults = firstFaults(file.options, (option) => {
    const message = option.value === null ? null : describe(option, option.value, known)
    return message === null ? [] : [refuse(option.word, `${option.word}: ${message}`)]
  })
  return [...faults, ...checkSpan(file)]
}

function refuse(option: string, message: string): Refusal {
  return { code: "invalid_option", option, message }
}

function describe({ name }: ReadOption, value: string, known: Known): string | null {
  switch (name) {
    case "metadata":
      return value.includes("=")
        ? null
        : `${quote(value)}: expected a name and a value, as title=My film`
    case "bsf":
      return describeBsfs(value, known)
    case "disposition":
      return describeDisposition(value, known)
    case "target":
      return /^(?:pal-|ntsc-|film-)?(?:vcd|svcd|dvd|dv|dv50)$/.test(value)
        ? null
        : `${quote(value)}: expected vcd, svcd, dvd, dv or dv50, as pal-dvd`
    case "streamid":
      return /^\d+:\d+$/.test(value)
        ? null
        : `${quote(value)}: expected a stream and an id, as 0:256`
    case "t":
    case "to":
      return value.startsWith("-") ? `${quote(value)}: expected a time that is not below 0` : null
    case "loglevel":
    case "v":
      return describeLogLevel(value)
    default:
      return null
  }
}

function describeBsfs(value: string, known: Known): string | null {
  for (const part of value.split(",")) {
    const [name = "", ...rest] = part.split("=")
    const entry = known.find("bsfs", name)
    if (!entry) {
      return `there is no bitstream filter ${quote(name)}${didYouMean(name, known.names("bsfs"))}`
    }
    if (/[\\'"]/.test(part)) return null
    for (const pair of rest.join("=").split(":").filter(Boolean)) {
      const [key = "", ...given] = pair.split("=")
      if (given.length === 0) continue
      const option = findOption(entry.options, key)
      if (!option) {
        const names = entry.options.flatMap(({ names }) => names)
        return `the bitstream filter ${name} has no option ${quote(key)}${didYouMean(key, names)}`
      }
      const expected = expectedInstead(option, given.join("="), known)
      if (expected !== null) return `${name}, ${key}=${quote(given.join("="))}: ${expected}`
    }
  }
  return null
}

function describeDisposition(value: string, known: Known): string | null {
  const names = known.names("dispositions")
  const wrong = value.split(/[+-]/).find((part) => /^[a-z_]+$/i.test(part) && !names.has(part))
  return wrong === undefined
    ? null
    : `there is no disposition ${quote(wrong)}${didYouMean(wrong, names)}`
}

const LEVELS = ["quiet", "panic", "fatal", "error", "warning", "info", "verbose", "debug", "trace"]

function describeLogLevel(value: string): string | null {
  const level = value.replace(/^(?:[+-]?(?:repeat|level|time|datetime|mem)\+?)*\+?/, "")
  if (level === "" || /^-?\d+$/.test(level) || LEVELS.includes(level)) return null
  return `${quote(value)}: expected ${LEVELS.join(", ")}${didYouMean(level, LEVELS)}`
}

/** A -to that is not behind its -ss. */
function checkSpan(file: ReadFile): Refusal[] {
  const from = parseTime(lastValue(file, "ss") ?? undefined)
  const to = parseTime(lastValue(file, "to") ?? undefined)
  if (from === null || to === null || lastValue(file, "t") !== null || to > from) return []
  const message = `-to: it is not behind -ss, and both count from the beginning; write a later -to, or -t for a length`
  return [refuse("-to", message)]
}
