import type { z } from "zod"
import { aliases, shown } from "./hint-table.ts"
import { nearestName } from "./nearest-name.ts"

/** Values of other interfaces without blanks and marks, and the ones that may be meant here. */
const OTHER_VALUES = aliases<readonly string[]>([
  ["avc avc1 x264 libx264", ["h264"]],
  ["hevc hvc1 x265 libx265", ["h265"]],
  ["libvpxvp9", ["vp9"]],
  ["libsvtav1 libaomav1", ["av1"]],
  ["uhd 2160 2160p 3840x2160 4k", ["4k", "2160p"]],
  ["fullhd fhd 1920x1080", ["1080p"]],
  ["hd 1280x720", ["720p"]],
  ["sd 640x480 854x480", ["480p"]],
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

/** The expectation that a value does not meet, and what to write instead where that can be told. */
export function describeWrong(issue: z.core.$ZodIssue, value: unknown): string {
  const { message } = issue
  // A message with backticks says itself what to write.
  if (message.includes("`")) return message
  if (issue.code === "invalid_key") return issue.issues[0]?.message ?? message
  if (value === undefined) {
    return /^(?:invalid_(?:type|value|union))$/.test(issue.code)
      ? `it is missing: ${message}`
      : message
  }
  const meant = meantValue(issue, value)
  return meant === null ? message : `${message}; ${meant}`
}

function meantValue(issue: z.core.$ZodIssue, value: unknown): string | null {
  if (issue.code === "invalid_value") return nearValue(issue.values, value)
  if (issue.code === "too_big") return withMinus(issue.maximum, value)
  if (issue.code === "invalid_format") return issue.format === "datetime" ? asMoment(value) : null
  if (issue.code !== "invalid_type") return null
  if (value === null) return "it is null"
  if (issue.expected === "string") return asText(issue.message, value)
  if (issue.expected === "number" || issue.expected === "int") return asNumber(issue.message, value)
  if (issue.expected === "boolean") return asBoolean(value)
  return issue.expected === "array" ? asList(value) : asObject(value)
}

/** One letter is too large a part of a shorter word: `mkv` is no misspelling of `mov`. */
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
    (plain.length < NEAR_LENGTH_MIN ? null : nearestName(plain, names))
  return near === null ? null : `did you mean \`${near}\`?`
}

/** A negative number that was given without its sign. */
function withMinus(maximum: number | bigint, value: unknown): string | null {
  if (typeof value !== "number" || value <= 0 || maximum > 0) return null
  return -value <= maximum ? `did you mean \`${-value}\`?` : null
}

function asText(message: string, value: unknown): string | null {
  if (typeof value === "number" || typeof value === "boolean") {
    return message === "expected a text" ? write(`${value}`) : `it is ${value}`
  }
  if (Array.isArray(value)) return asOneText(value)
  const fields: [string, unknown][] = Object.entries(value ?? {})
  const only = fields.length === 1 ? fields[0] : undefined
  const [name, text] = only ?? ["", null]
  return ADDRESS_NAME.test(name) && typeof text === "string" ? alone(text) : "it is an object"
}

/** Names of fields that hold an address, or the id of a file. */
const ADDRESS_NAME = /^(?:.*ur[il]|href|src|link|(?:file_?)?(?:id|path))$/i

function asOneText(items: unknown[]): string {
  const words = items.flatMap((each) => (typeof each === "string" ? [each] : []))
  const [only = "", ...others] = words
  if (words.length !== items.length || words.length === 0) return "it is a list"
  if (others.length === 0) return alone(only)
  const quoted = words.map((word) => (/\s/.test(word) ? `'${word}'` : word))
  return `it is a list; as one text it is ${shown(quoted.join(" "))}`
}

function alone(text: string): string {
  return `write the text alone: ${shown(text)}`
}

/** A list of the one value that was given, or of the values under numbered names. */
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
  if (!isTaken(message, number)) return null
  return isPlain ? `${write(number)}, without quotes` : write(number)
}

/** Whether a number is whole where a message says so, and in the range that the message names, if any. */
function isTaken(message: string, number: number): boolean {
  if (!Number.isInteger(number) && (message.includes("whole") || !Number.isFinite(number)))
    return false
  const [, least, most] = /from (-?[\d.]+) to (-?[\d.]+)/.exec(message) ?? []
  return least === undefined || (number >= Number(least) && number <= Number(most))
}

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** The number of a text with the unit that a message names, or with one of time; NaN for others. */
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

/** A list, or an object that was made a text before the body was. */
function asObject(value: unknown): string | null {
  if (Array.isArray(value)) return "it is a list"
  if (typeof value !== "string") return `it is ${JSON.stringify(value)}`
  return /^\s*\{/.test(value) ? "write it as an object, and not as JSON in a text" : "it is a text"
}

/** A moment in the one form that is read. */
function asMoment(value: unknown): string | null {
  if (typeof value !== "string" || value === "") return null
  const digits = /^\d{10}(?:\d{3})?$/.test(value) ? Number(value.padEnd(13, "0")) : null
  const moment = new Date(digits ?? readMoment(value))
  return Number.isNaN(moment.getTime())
    ? null
    : `write ${shown(moment.toISOString().replace(".000", ""))}`
}

/** A time of day without a zone is in UTC; the plus of one becomes a blank in a query. */
function readMoment(text: string): string {
  const zoned = text.trim().replace(/ (\d\d:\d\d)$/, (zone) => {
    return /T.* /.test(text) ? `+${zone.trim()}` : zone
  })
  const isWithoutZone = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(zoned)
  return isWithoutZone ? `${zoned.replace(" ", "T")}Z` : zoned
}

function write(value: unknown): string {
  return `write ${shown(JSON.stringify(value) ?? "")}`
}
