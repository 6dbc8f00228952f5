import { findCodecRefusalReason } from "../../../ffmpeg/policy/codecs.ts"
import { findFilterRefusalReason } from "../../../ffmpeg/policy/filters.ts"
import {
  findInputFormatRefusalReason,
  findOutputFormatRefusalReason,
} from "../../../ffmpeg/policy/formats.ts"
import { ffmpegCapabilityTablesSchema } from "./capability-tables.ts"
import image from "./image.json" with { type: "json" }
import type { FfmpegCapabilityTables } from "./capability-tables.ts"

/**
 * Option of an ffmpeg build. `type` is a letter for the type of the option's values, as listed in
 * value-names.ts.
 */
export type FfmpegOption = {
  names: string[]
  type: string
  /**
   * Files to which the option applies: `E` for outputs, `D` for inputs. Empty for options of
   * filters.
   */
  sides: string
  constants: string[]
}

/** Filter, encoder, muxer or bitstream filter of an ffmpeg build. */
export type FfmpegComponent = { name: string; meta: string; options: FfmpegOption[] }

export type CapabilityTable = "generic" | "filters" | "encoders" | "muxers" | "bsfs"
type ListName = Exclude<keyof FfmpegCapabilityTables, CapabilityTable | "version">

/**
 * Lookup of an ffmpeg build's capabilities by name. A component, such as a filter, is parsed only
 * when it is looked up.
 */
export type FfmpegCapabilities = {
  version: string
  find(table: CapabilityTable, name: string): FfmpegComponent | null
  names(of: CapabilityTable | ListName): ReadonlySet<string>
}

/** Creates the lookup functions for an ffmpeg build's capabilities from the tables of the build. */
export function createCapabilities(facts: FfmpegCapabilityTables): FfmpegCapabilities {
  const tables = new Map<CapabilityTable, ReadonlyMap<string, string>>()
  const lists = new Map<string, ReadonlySet<string>>()
  const entries = new Map<string, FfmpegComponent | null>()

  function indexTable(table: CapabilityTable): ReadonlyMap<string, string> {
    const cached = tables.get(table)
    if (cached) return cached
    const named = facts[table]
      .split("\n")
      .map((line) => [line.split("\t", 1)[0] ?? "", line] as const)
    const lines = new Map(named)
    tables.set(table, lines)
    return lines
  }

  function readComponent(table: CapabilityTable, name: string): FfmpegComponent | null {
    const line = indexTable(table).get(name)
    if (line === undefined) return null
    const [, meta = "", options = ""] = line.split("\t")
    if (options.startsWith("@")) {
      return { name, meta, options: readComponent(table, options.slice(1))?.options ?? [] }
    }
    return { name, meta, options: options === "" ? [] : options.split(" ").map(readOption) }
  }

  return {
    version: facts.version,
    find(table, name) {
      const key = `${table} ${name}`
      const cached = entries.get(key)
      if (cached !== undefined) return cached
      const entry = readComponent(table, name)
      entries.set(key, entry)
      return entry
    },
    names(of) {
      const cached = lists.get(of)
      if (cached) return cached
      const list = isTable(of) ? indexTable(of).keys() : facts[of].split(" ")
      const names = new Set(list)
      lists.set(of, names)
      return names
    },
  }
}

/** Names of the capability lists whose names commands can use, such as `filters`. */
export const CAPABILITY_LIST_NAMES = [
  "encoders",
  "decoders",
  "filters",
  "muxers",
  "demuxers",
] as const

/**
 * Returns the names in a list of capabilities, except those that the policy forbids in commands.
 */
export function listAllowedNames(
  capabilities: FfmpegCapabilities,
  list: (typeof CAPABILITY_LIST_NAMES)[number],
): string[] {
  const reasonAgainst = REASONS[list]
  return [...capabilities.names(list)].filter((name) => reasonAgainst(name) === null)
}

const REASONS = {
  encoders: findCodecRefusalReason,
  decoders: findCodecRefusalReason,
  filters: findFilterRefusalReason,
  muxers: findOutputFormatRefusalReason,
  demuxers: findInputFormatRefusalReason,
}

/** Returns the option with a name or alias; null if no option in the list has the name. */
export function findOption(options: readonly FfmpegOption[], name: string): FfmpegOption | null {
  const cached = byName.get(options)
  if (cached) return cached.get(name) ?? null
  const index = new Map<string, FfmpegOption>()
  for (const option of options) {
    for (const each of option.names) if (!index.has(each)) index.set(each, option)
  }
  byName.set(options, index)
  return index.get(name) ?? null
}

const byName = new WeakMap<readonly FfmpegOption[], ReadonlyMap<string, FfmpegOption>>()

/**
 * Returns the values of a key in a component's metadata, such as `44100` and `48000` for the key
 * `r` in `r=44100,48000`.
 */
export function getComponentMetaValues({ meta }: FfmpegComponent, key: string): string[] {
  const found = meta.split(" ").find((fact) => fact.startsWith(`${key}=`))
  return found?.slice(key.length + 1).split(",") ?? []
}

function isTable(name: string): name is CapabilityTable {
  return /^(?:generic|filters|encoders|muxers|bsfs)$/.test(name)
}

/** Parses an option in the text form `name=alias:type and sides:min:max|constant|constant`. */
function readOption(text: string): FfmpegOption {
  const [facts = "", ...constants] = text.split("|")
  const [names = "", type = "s"] = facts.split(":")
  return {
    names: names.split("="),
    type: type.charAt(0),
    sides: type.slice(1),
    constants,
  }
}

/**
 * Values of the setting FFMPEG_FACTS: `image` for the ffmpeg of the container image, and `none` if
 * the capabilities of the deployment's ffmpeg are unknown.
 */
export const IMAGE_CAPABILITIES_SETTING = "image"
export const UNKNOWN_CAPABILITIES_SETTING = "none"

let cached: { setting: string; capabilities: Promise<FfmpegCapabilities | null> } | null = null

/**
 * Returns the capabilities of the deployment's ffmpeg from the setting FFMPEG_FACTS. The setting is
 * `image`, `none`, or the tables of another build as gzipped JSON in base64. Returns null for
 * `none`.
 */
export async function loadCapabilitiesFromSetting(
  setting: string,
): Promise<FfmpegCapabilities | null> {
  if (cached?.setting !== setting) cached = { setting, capabilities: open(setting) }
  return await cached.capabilities
}

async function open(setting: string): Promise<FfmpegCapabilities | null> {
  if (setting === UNKNOWN_CAPABILITIES_SETTING) return null
  if (setting === IMAGE_CAPABILITIES_SETTING) return createCapabilities(image)
  const bytes = Uint8Array.from(atob(setting), (letter) => letter.charCodeAt(0))
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))
  return createCapabilities(ffmpegCapabilityTablesSchema.parse(await new Response(plain).json()))
}
