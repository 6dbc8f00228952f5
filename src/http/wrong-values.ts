import type { z } from "zod"
import { cutText } from "../cut-text.ts"
import { nearestName } from "../suggest.ts"

const SHOWN_LENGTH_MAX = 80

/** What values are called elsewhere, and here: the first of them that a field takes. */
const OTHER_VALUES: Record<string, readonly string[]> = {
  avc: ["h264"],
  avc1: ["h264"],
  x264: ["h264"],
  libx264: ["h264"],
  hevc: ["h265"],
  hvc1: ["h265"],
  x265: ["h265"],
  libx265: ["h265"],
  libvpxvp9: ["vp9"],
  libsvtav1: ["av1"],
  libaomav1: ["av1"],
  uhd: ["4k", "2160p"],
  "2160": ["4k", "2160p"],
  "2160p": ["4k"],
  "3840x2160": ["4k", "2160p"],
  "4k": ["2160p"],
  fullhd: ["1080p"],
  fhd: ["1080p"],
  "1920x1080": ["1080p"],
  hd: ["720p"],
  "1280x720": ["720p"],
  sd: ["480p"],
  "640x480": ["480p"],
  "854x480": ["480p"],
  quicktime: ["mov"],
  aac: ["m4a"],
  done: ["success", "completed"],
  finished: ["success", "completed"],
  succeeded: ["success", "completed"],
  success: ["completed"],
  ok: ["success", "completed"],
  completed: ["success"],
  error: ["failed"],
  canceled: ["failed"],
  cancelled: ["failed"],
  queued: ["pending"],
  waiting: ["pending", "queued"],
  pending: ["queued"],
  processing: ["running"],
  inprogress: ["running", "processing"],
  active: ["running", "processing"],
  running: ["processing"],
  url: ["import"],
  english: ["en"],
  all: ["admin"],
  full: ["admin"],
}

/** What was expected of a value that does not fit, and what to write in its place where that can be told. */
export function describeWrong(issue: z.core.$ZodIssue, value: unknown): string {
  const { message } = issue
  // It says so itself.
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

/** Of shorter words one letter is too much of them: `mkv` is no slip of `mov`. */
const NEAR_LENGTH_MIN = 4

function nearValue(values: readonly unknown[], value: unknown): string | null {
  if (typeof value !== "string" && typeof value !== "number") return null
  const names = values.filter((each) => typeof each === "string")
  const plain = `${value}`
    .trim()
    .toLowerCase()
    .replace(/[\s._-]/g, "")
  const other = Object.hasOwn(OTHER_VALUES, plain) ? (OTHER_VALUES[plain] ?? []) : []
  const near =
    names.find((name) => name.toLowerCase() === plain) ??
    other.find((name) => names.includes(name)) ??
    names.find((name) => name === `${plain}p` || `.${name}` === plain) ??
    (plain.length < NEAR_LENGTH_MIN ? null : nearestName(plain, names))
  return near === null ? null : `did you mean \`${near}\`?`
}

/** A number that is to be negative, and was given without its sign. */
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

/** What a field that holds an address, or the id of a file, is called. */
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

/** A list of the one thing that was given, or of what stands under numbered names. */
function asList(value: unknown): string {
  if (typeof value === "boolean") return `it is ${value}`
  if (typeof value !== "object" || value === null) return write([value])
  const isNumbered = Object.keys(value).every((name) => /\d$/.test(name))
  return write(isNumbered ? Object.values(value) : [value])
}

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

function asNumber(message: string, value: unknown): string | null {
  if (typeof value !== "string") return null
  const read = readNumber(message, value)
  if (read === null || !isWithin(message, read.number)) return null
  return read.isPlain ? `${write(read.number)}, without quotes` : write(read.number)
}

/** Whether a number is in the range that a message names; where it names none, it is. */
function isWithin(message: string, number: number): boolean {
  const [, least, most] = /from (-?[\d.]+) to (-?[\d.]+)/.exec(message) ?? []
  return least === undefined || (number >= Number(least) && number <= Number(most))
}

/** The number that a text means, plain or with a unit. */
function readNumber(message: string, value: string): { number: number; isPlain?: true } | null {
  const [, amount = "", named = ""] = /^\s*(-?[\d.]+)\s*([a-z]+)\s*$/i.exec(value) ?? []
  if (named !== "" && message.includes(`(${named.toUpperCase()})`))
    return { number: Number(amount) }
  const clock = /^(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$/.exec(value.trim())
  if (clock && message.includes("seconds")) {
    const [, hours = "0", minutes = "0", seconds = "0"] = clock
    return { number: Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) }
  }
  const number = value.trim() === "" ? Number.NaN : Number(value)
  const isWhole = Number.isInteger(number) || !message.includes("whole")
  if (Number.isFinite(number)) return isWhole ? { number, isPlain: true } : null
  const [, count = "", unit = ""] = /^\s*(\d+)\s*([smhdw])[a-z]*\s*$/i.exec(value) ?? []
  const seconds = UNIT_SECONDS[unit.toLowerCase()]
  if (seconds === undefined || !message.includes("seconds")) return null
  return { number: Number(count) * seconds }
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
  return Number.isNaN(moment.getTime()) ? null : write(moment.toISOString().replace(".000", ""), "")
}

/** A time of day without a zone is in UTC; the plus of one becomes a blank in a query. */
function readMoment(text: string): string {
  const zoned = text.trim().replace(/ (\d\d:\d\d)$/, (zone) => {
    return /T.* /.test(text) ? `+${zone.trim()}` : zone
  })
  const isWithoutZone = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(zoned)
  return isWithoutZone ? `${zoned.replace(" ", "T")}Z` : zoned
}

function write(value: unknown, quotes = '"'): string {
  const json = JSON.stringify(value) ?? ""
  return `write ${shown(quotes === "" ? json.replaceAll('"', "") : json)}`
}

function shown(text: string): string {
  return `\`${cutText(text, SHOWN_LENGTH_MAX)}\``
}
