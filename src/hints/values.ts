import type { z } from "zod"
import { buildAliasMap, quoteForMessage } from "./hint-table.ts"
import { findNearestName } from "./nearest-name.ts"

/** Values of other APIs (lowercase, no punctuation), with the likely values of this API. */
const OTHER_VALUES = buildAliasMap<readonly string[]>([
  ["avc avc1 x264 libx264", ["h264"]],
  ["hevc hvc1 x265 libx265", ["h265"]],
  ["libvpxvp9", ["vp9"]],
  ["libsvtav1 libaomav1", ["av1"]],
  ["uhd 2160 2160p 3840x2160 4k", ["4k", "2160p"]],
  ["qhd wqhd 2k 2560x1440", ["1440p"]],
  ["fullhd fhd 1920x1080", ["1080p"]],
  ["hd 1280x720", ["720p"]],
  ["sd 640x480 854x480", ["480p"]],
  ["640x360", ["360p"]],
  ["426x240", ["240p"]],
  ["quicktime", ["mov"]],
  ["aac", ["m4a"]],
  ["done finished succeeded success ok completed", ["success", "completed"]],
  ["error canceled cancelled", ["failed"]],
  ["queued waiting pending", ["pending", "queued"]],
  ["processing inprogress active running", ["running", "processing"]],
  ["url", ["import"]],
  ["english", ["en"]],
  ["all full", ["admin"]],
])

/**
 * Returns the error message for a wrong value: the values that the field expects, and a correction
 * if possible.
 */
export function describeInvalidValue(issue: z.core.$ZodIssue, value: unknown): string {
  const { message } = issue
  // An error message with backticks already contains a correction.
  if (message.includes("`")) return message
  if (issue.code === "invalid_key") return issue.issues[0]?.message ?? message
  if (value === undefined) {
    return /^(?:invalid_(?:type|value|union))$/.test(issue.code)
      ? `it is missing: ${message}`
      : message
  }
  const suggestion = suggestValue(issue, value)
  return suggestion === null ? message : `${message}; ${suggestion}`
}

function suggestValue(issue: z.core.$ZodIssue, value: unknown): string | null {
  if (issue.code === "invalid_value") return nearValue(issue.values, value)
  if (issue.code === "too_big") return withMinus(issue.maximum, value)
  if (issue.code === "invalid_format") {
    return issue.format === "datetime" ? asMoment(issue.message, value) : null
  }
  if (issue.code === "invalid_union")
    return value === null ? "it is null" : asText(issue.message, value)
  if (issue.code !== "invalid_type") return null
  if (value === null) return "it is null"
  if (issue.expected === "string") return asText(issue.message, value)
  if (issue.expected === "number" || issue.expected === "int") return asNumber(issue.message, value)
  if (issue.expected === "boolean") return asBoolean(value)
  return issue.expected === "array" ? asList(value) : asObject(value)
}

/**
 * Minimum length of a value for spelling correction. Shorter values resemble each other by chance:
 * `mkv` is close to `mov`, but is not a misspelling of it.
 */
const NEAR_LENGTH_MIN = 4

function nearValue(values: readonly unknown[], value: unknown): string | null {
  if (typeof value !== "string" && typeof value !== "number") return null
  const names = values.filter((each) => typeof each === "string")
  const plain = `${value}`
    .trim()
    .toLowerCase()
    .replace(/[\s._-]/g, "")
  const near =
    names.find((name) => name.toLowerCase() === plain) ??
    OTHER_VALUES.get(plain)?.find((name) => names.includes(name)) ??
    names.find((name) => name === `${plain}p` || `.${name}` === plain) ??
    (plain.length < NEAR_LENGTH_MIN ? null : findNearestName(plain, names))
  return near === null ? null : `did you mean \`${near}\`?`
}

/** Suggests the negative number for a positive number, if the field accepts no positive numbers. */
function withMinus(maximum: number | bigint, value: unknown): string | null {
  if (typeof value !== "number" || value <= 0 || maximum > 0) return null
  return -value <= maximum ? `did you mean \`${-value}\`?` : null
}

function asText(message: string, value: unknown): string | null {
  if (typeof value === "number" || typeof value === "boolean") {
    const moment = asMoment(message, value)
    return moment ?? (message === "expected a string" ? write(`${value}`) : `it is ${value}`)
  }
  if (Array.isArray(value)) return asOneText(value)
  const fields: [string, unknown][] = Object.entries(value ?? {})
  const only = fields.length === 1 ? fields[0] : undefined
  const [name, text] = only ?? ["", null]
  return ADDRESS_NAME.test(name) && typeof text === "string" ? alone(text) : "it is an object"
}

/** Names of fields that hold an address or the id of a file. */
const ADDRESS_NAME = /^(?:.*ur[il]|href|src|link|(?:file_?)?(?:id|path))$/i

function asOneText(items: unknown[]): string {
  const words = items.flatMap((each) => (typeof each === "string" ? [each] : []))
  const [only = "", ...others] = words
  if (words.length !== items.length || words.length === 0) return "it is a list"
  if (others.length === 0) return alone(only)
  const quoted = words.map((word) => (/\s/.test(word) ? `'${word}'` : word))
  return `it is a list; as one string it is ${quoteForMessage(quoted.join(" "))}`
}

function alone(text: string): string {
  return `write the string alone: ${quoteForMessage(text)}`
}

/** Suggests a list for a single value, or for an object with names such as `url1`, `url2`. */
function asList(value: unknown): string {
  if (typeof value === "boolean") return `it is ${value}`
  if (typeof value !== "object" || value === null) return write([value])
  const isNumbered = Object.keys(value).every((name) => /\d$/.test(name))
  return write(isNumbered ? Object.values(value) : [value])
}

function asNumber(message: string, value: unknown): string | null {
  if (typeof value !== "string") return null
  const text = value.trim()
  const isPlain = text !== "" && Number.isFinite(Number(text))
  const number = isPlain ? Number(text) : withoutUnit(message, text)
  if (!fitsMessage(message, number)) return null
  return isPlain ? `${write(number)}, without quotes` : write(number)
}

/**
 * Reports whether a number is in the range that an error message states (`from 1 to 10`). The
 * number must be whole if the message says so.
 */
function fitsMessage(message: string, number: number): boolean {
  if (!Number.isInteger(number) && (message.includes("whole") || !Number.isFinite(number)))
    return false
  const [, least, most] = /from (-?[\d.]+) to (-?[\d.]+)/.exec(message) ?? []
  return least === undefined || (number >= Number(least) && number <= Number(most))
}

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/**
 * Parses a number with a unit: the unit of the error message, or a unit of time. Returns NaN for
 * other texts.
 */
function withoutUnit(message: string, text: string): number {
  const [, amount = "", unit = ""] = /^(-?[\d.]+)\s*([a-z]+)$/i.exec(text) ?? []
  if (unit !== "" && message.includes(`(${unit.toUpperCase()})`)) return Number(amount)
  if (!message.includes("seconds") || /^m(?:s|illi|onth)/i.test(unit)) return Number.NaN
  const clock = /^(?:\d+:){1,2}\d+(?:\.\d+)?$/.test(text) ? text.split(":") : []
  if (clock.length > 0) return clock.reduce((sum, part) => sum * 60 + Number(part), 0)
  return Number(amount) * (UNIT_SECONDS[unit.charAt(0).toLowerCase()] ?? Number.NaN)
}

function asBoolean(value: unknown): string | null {
  const plain = JSON.stringify(value).replaceAll('"', "").toLowerCase()
  if (/^(?:true|yes|on|1)$/.test(plain)) return "write `true`, without quotes"
  return /^(?:false|no|off|0)$/.test(plain) ? "write `false`, without quotes" : null
}

/** Describes a value that is not an object, such as a list or a JSON string. */
function asObject(value: unknown): string | null {
  if (Array.isArray(value)) return "it is a list"
  if (typeof value !== "string") return `it is ${JSON.stringify(value)}`
  return /^\s*\{/.test(value) ? "write an object, not JSON in a string" : "it is a string"
}

/** Suggests the accepted format of a date-time if the error message expects a date-time. */
function asMoment(message: string, value: unknown): string | null {
  const moment = message.includes("date-time") ? parseDateTime(value) : null
  if (moment === null) return null
  return `write ${quoteForMessage(new Date(moment).toISOString().replace(".000", ""))}`
}

/**
 * Parses a date-time in any format of `Date.parse`, or Unix time in seconds or milliseconds.
 * Returns milliseconds since the epoch; null for other values.
 */
export function parseDateTime(value: unknown): number | null {
  const text = typeof value === "number" ? `${value}` : value
  if (typeof text !== "string" || text === "") return null
  if (/^\d{10}(?:\d{3})?$/.test(text)) return Number(text.padEnd(13, "0"))
  const moment = typeof value === "number" ? Number.NaN : Date.parse(readMoment(text))
  return Number.isNaN(moment) ? null : moment
}

/**
 * Completes the text of a date-time: adds UTC if the text has no time zone, and restores a plus
 * sign that URL decoding turned into a space.
 */
function readMoment(text: string): string {
  const zoned = text.trim().replace(/ (\d\d:\d\d)$/, (zone) => {
    return /T.* /.test(text) ? `+${zone.trim()}` : zone
  })
  const isWithoutZone = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(zoned)
  return isWithoutZone ? `${zoned.replace(" ", "T")}Z` : zoned
}

function write(value: unknown): string {
  return `write ${quoteForMessage(JSON.stringify(value) ?? "")}`
}
