import { parseTime } from "../../../contract/media-time.ts"
import { didYouMean } from "../../../suggest.ts"
import { kindOfFilterOption, reasonAgainstFilter } from "../policy/filters.ts"
import { quote, REFUSALS_MAX } from "../policy/refusal.ts"
import { wrongExpression } from "./expressions.ts"
import type { Medium } from "./codecs.ts"
import type { ChainFilter } from "./graph.ts"
import { lackOf } from "./filter-needs.ts"
import { findOption } from "./known.ts"
import type { Known, KnownEntry, KnownOption } from "./known.ts"
import { meant, usualFilterOption } from "./usual-names.ts"
import { expectedInstead } from "./values.ts"

/** What no ffmpeg would take of a filter of a graph: sentences. */
export function checkFilter(filter: ChainFilter, known: Known, medium: Medium | null): string[] {
  const { name } = filter
  if (reasonAgainstFilter(name)) return []
  const entry = known.find("filters", name)
  if (!entry) return [describeUnknown(name, known, medium)]
  const faults = checkOptions(filter, entry, known)
  const lack = faults.length === 0 ? lackOf(filter, entry) : null
  return [...faults, ...(lack === null ? [] : [lack])].map((each) => `the filter ${name}: ${each}`)
}

function describeUnknown(name: string, known: Known, medium: Medium | null): string {
  const isOption = /^\w+$/.test(name) ? "" : "; escape , and ; within values as \\, and \\;"
  const near = meant(medium === "A" ? "soundFilters" : "filters", name, known.names("filters"))
  return `there is no filter ${quote(name)}${near === "" ? isOption : near}`
}

function checkOptions(filter: ChainFilter, entry: KnownEntry, known: Known): string[] {
  const generic = known.find("generic", "filter")?.options ?? []
  const faults: string[] = []
  let place = 0
  let last: string | null = null
  for (const { name, value } of filter.options) {
    if (faults.length >= REFUSALS_MAX) break
    if (name === null) {
      const option = last === null ? entry.options[place] : undefined
      place += 1
      if (!option) {
        faults.push(describeTooMany(filter, entry, { value, last }))
        break
      }
      const wrong = describeValue(
        filter.name,
        option,
        { name: option.names[0] ?? "", value },
        known,
      )
      if (wrong) faults.push(wrong)
      continue
    }
    last = name
    if (name.startsWith("/")) continue
    const option = findOption(entry.options, name) ?? findOption(generic, name)
    if (!option) {
      faults.push(describeOption(filter, name, entry))
      continue
    }
    const isTimeline = entry.meta.startsWith("T")
    if (name === "enable" && !isTimeline) {
      faults.push("it takes no enable=, since it cannot be switched on and off; leave that out")
    }
    const wrong = describeValue(filter.name, option, { name, value }, known)
    if (wrong) faults.push(wrong)
  }
  return faults
}

function describeOption({ name: filter }: ChainFilter, name: string, entry: KnownEntry): string {
  const names = entry.options.flatMap((option) => option.names)
  if (names.length === 0)
    return `it takes no options, and ${quote(name)} is given; write ${filter} alone`
  const usual = usualFilterOption(filter, name)
  const near = usual === null ? didYouMean(name, names) : `; write \`${usual}\``
  const listed = names.slice(0, 8).join(", ")
  return `it has no option ${quote(name)}${near === "" ? `; it has ${listed}${names.length > 8 ? " and more" : ""}` : near}`
}

/** A value without a name that no option is left for. */
function describeTooMany(
  filter: ChainFilter,
  { options }: KnownEntry,
  { value, last }: { value: string; last: string | null },
): string {
  if (options.length === 0)
    return `it takes no options, and ${quote(filter.text)} is given; write ${filter.name} alone`
  if (last === null) {
    return `it takes ${options.length} values, and ${quote(value)} is one too many; leave it out`
  }
  if (
    /^(?:text|enable|drawtext|fontfile|filename|x|y|timecode)$/.test(last) ||
    kindOfFilterOption(filter.name, last) !== null
  ) {
    return `${quote(value)} stands behind a colon of ${last} and has no name; within a value write \\: for a colon, in a graph \\\\: or '…\\:…', as in text='10\\:30'`
  }
  return `${quote(value)} has no name and stands behind ${last}=, which has one; name it too, or write \\: where the colon is a part of the value`
}

/** Options that are texts to their filters and are read as values of another type, each or all of them. */
const READ_AS: Record<string, string> = {
  "drawbox color": "c",
  "drawgrid color": "c",
  "rotate fillcolor": "c",
  "format pix_fmts": "p|",
  "noformat pix_fmts": "p|",
  "aformat sample_fmts": "a|",
  "aformat channel_layouts": "l|",
}
/** Words that such an option may be beside these. */
const OTHERS = /^(?:invert|none)$/
/** Times that have a range, in seconds. */
const TIMES: Record<string, [least: number, most: number]> = {
  "fade duration": [0, Infinity],
  "fade start_time": [0, Infinity],
  "afade duration": [0, Infinity],
  "xfade duration": [0, 60],
  "acrossfade duration": [0, 60],
}

function describeValue(
  filter: string,
  option: KnownOption,
  { name, value }: { name: string; value: string },
  known: Known,
): string | null {
  if (kindOfFilterOption(filter, name) !== null && name !== "threads" && name !== "enable") {
    return null
  }
  if (value === "" && !/[iftcvz]/.test(option.type)) return null
  const expected =
    expectedOf(`${filter} ${option.names[0] ?? ""}`, option, value, known) ??
    wrongExpression(filter, option.names, value)
  return expected === null ? null : `${name}=${quote(value)}: ${expected}`
}

function expectedOf(
  place: string,
  option: KnownOption,
  value: string,
  known: Known,
): string | null {
  const readAs = Object.hasOwn(READ_AS, place) ? READ_AS[place] : undefined
  if (place === "scale flags") {
    const flags = findOption(known.find("generic", "sws")?.options ?? [], "sws_flags")
    return flags && expectedInstead(flags, value, known)
  }
  if (readAs === undefined || OTHERS.test(value)) {
    return expectedInstead(option, value, known) ?? expectedSpan(place, value)
  }
  const typed = { ...option, type: readAs.charAt(0) }
  const values = readAs.endsWith("|") ? value.split("|") : [value]
  const wrong = values.values().map((each) => expectedInstead(typed, each, known))
  return wrong.find(Boolean) ?? null
}

function expectedSpan(place: string, value: string): string | null {
  const span = Object.hasOwn(TIMES, place) ? TIMES[place] : undefined
  const seconds = parseTime(value.replace(/^-/, ""))
  if (!span || seconds === null) return null
  const [least, most] = span
  if (value.startsWith("-") && seconds > 0) return "expected a time that is not below 0"
  return seconds < least || seconds > most ? `expected ${least} to ${most} seconds` : null
}
