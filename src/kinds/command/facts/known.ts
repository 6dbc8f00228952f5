import { ffmpegFacts } from "./ffmpeg-facts.ts"
import image from "./image.json" with { type: "json" }
import type { FfmpegFacts } from "./ffmpeg-facts.ts"

/** An option as an ffmpeg has it: letters of ffmpeg-facts.ts for its type and sides. */
export type KnownOption = {
  names: string[]
  type: string
  /** E where it is for outputs, D for inputs; neither of a filter's. */
  sides: string
  constants: string[]
}

/** A filter, an encoder, a muxer or a bitstream filter. */
export type KnownEntry = { name: string; meta: string; options: KnownOption[] }

export type TableName = "generic" | "filters" | "encoders" | "muxers" | "bsfs"
type ListName = Exclude<keyof FfmpegFacts, TableName | "version">

/** What an ffmpeg knows, looked up by name; nothing is read before it is asked for. */
export type Known = {
  find(table: TableName, name: string): KnownEntry | null
  names(of: TableName | ListName): ReadonlySet<string>
}

/** Opens what an ffmpeg knows. */
export function openFacts(facts: FfmpegFacts): Known {
  const tables = new Map<TableName, ReadonlyMap<string, string>>()
  const lists = new Map<string, ReadonlySet<string>>()
  const entries = new Map<string, KnownEntry | null>()

  function linesOf(table: TableName): ReadonlyMap<string, string> {
    const known = tables.get(table)
    if (known) return known
    const lines = facts[table]
      .split("\n")
      .map((line) => [line.split("\t", 1)[0] ?? "", line] as const)
    const made = new Map(lines)
    tables.set(table, made)
    return made
  }

  function read(table: TableName, name: string): KnownEntry | null {
    const line = linesOf(table).get(name)
    if (line === undefined) return null
    const [, meta = "", options = ""] = line.split("\t")
    if (options.startsWith("@")) {
      return { name, meta, options: read(table, options.slice(1))?.options ?? [] }
    }
    return { name, meta, options: options === "" ? [] : options.split(" ").map(readOption) }
  }

  return {
    find(table, name) {
      const key = `${table} ${name}`
      const known = entries.get(key)
      if (known !== undefined) return known
      const entry = read(table, name)
      entries.set(key, entry)
      return entry
    },
    names(of) {
      const known = lists.get(of)
      if (known) return known
      const names = isTable(of) ? linesOf(of).keys() : facts[of].split(" ")
      const made = new Set(names)
      lists.set(of, made)
      return made
    },
  }
}

/** The option of this name, or of this other name. */
export function findOption(options: readonly KnownOption[], name: string): KnownOption | null {
  const known = byName.get(options)
  if (known) return known.get(name) ?? null
  const made = new Map<string, KnownOption>()
  for (const option of options) {
    for (const each of option.names) if (!made.has(each)) made.set(each, option)
  }
  byName.set(options, made)
  return made.get(name) ?? null
}

const byName = new WeakMap<readonly KnownOption[], ReadonlyMap<string, KnownOption>>()

/** The values of a fact like `r=44100,48000` in what an entry says beside its options. */
export function metaOf({ meta }: KnownEntry, key: string): string[] {
  const found = meta.split(" ").find((fact) => fact.startsWith(`${key}=`))
  return found?.slice(key.length + 1).split(",") ?? []
}

function isTable(name: string): name is TableName {
  return /^(?:generic|filters|encoders|muxers|bsfs)$/.test(name)
}

/** Reads `name=alias:type and sides:least:most|constant|constant`. */
function readOption(text: string): KnownOption {
  const [facts = "", ...constants] = text.split("|")
  const [names = "", type = "s"] = facts.split(":")
  return {
    names: names.split("="),
    type: type.charAt(0),
    sides: type.slice(1),
    constants,
  }
}

/** What stands for the image's own ffmpeg, and for one of which nothing is known. */
export const OF_IMAGE = "image"
export const OF_NONE = "none"

let opened: { setting: string; known: Promise<Known | null> } | null = null

/**
 * What the deployment's ffmpeg knows: `image`, `none`, or the facts of another one as JSON, compressed
 * by gzip, in base64. Null where nothing is known.
 */
export async function knownFfmpeg(setting: string): Promise<Known | null> {
  if (opened?.setting !== setting) opened = { setting, known: open(setting) }
  return await opened.known
}

async function open(setting: string): Promise<Known | null> {
  if (setting === OF_NONE) return null
  if (setting === OF_IMAGE) return openFacts(image)
  const bytes = Uint8Array.from(atob(setting), (letter) => letter.charCodeAt(0))
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))
  return openFacts(ffmpegFacts.parse(await new Response(plain).json()))
}
