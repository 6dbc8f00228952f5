import { execFile } from "node:child_process"
import { availableParallelism } from "node:os"
import { promisify } from "node:util"
import pMap from "p-map"
import type { FfmpegCapabilityTables } from "../../src/kinds/command/facts/capability-tables.ts"
import { parseComponentNames } from "./differences.ts"
import { readOptionClasses } from "./read-help.ts"

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024
/**
 * Pattern of encoders whose help text is not read: those without options of their own, and those
 * that the service allows in no command.
 */
const PLAIN_ENCODERS =
  /^(?:pcm_|adpcm_)|_(?:amf|cuvid|mf|nvenc|omx|qsv|v4l2m2m|vaapi|videotoolbox|vulkan)$/

/**
 * Classes of options (AVClass) that several filters share. ffmpeg prints them after the options of
 * the filter itself.
 */
const SHARED_CLASSES = new Set(["framesync", "SWScaler", "SWResampler", "AVDCT"])

type Ask = (...words: string[]) => Promise<string>

/**
 * Reads the options, filters, codecs and formats of an ffmpeg from its help texts, in the compact
 * form with which the service checks commands.
 */
export async function readFfmpegCapabilities(program: string): Promise<FfmpegCapabilityTables> {
  async function ask(...words: string[]) {
    const options = { maxBuffer: OUTPUT_BYTES_MAX }
    return (await promisify(execFile)(program, ["-hide_banner", ...words], options)).stdout
  }
  const [full, version, filters, codecs] = await pMap(
    [["-h", "full"], ["-version"], ["-filters"], ["-codecs"]],
    async (words) => await ask(...words),
    { concurrency: availableParallelism() },
  )
  const classes = readOptionClasses(full ?? "")
  return {
    version: /^ffmpeg version (\S+)/.exec(version ?? "")?.[1] ?? "unknown",
    options: readOwnOptions(full ?? ""),
    generic: readGeneric(classes),
    filters: await readFilters(ask, filters ?? "", classes),
    encoders: await readEncoders(ask),
    muxers: await readMuxers(ask),
    bsfs: await readBsfs(ask, classes),
    decoders: parseComponentNames("decoders", await ask("-decoders")).join(" "),
    demuxers: parseComponentNames("demuxers", await ask("-demuxers")).join(" "),
    encodable: readCodecs(codecs ?? "", /^ .E([VASDT])\S{3} (\S+)/gm),
    decodable: readCodecs(codecs ?? "", /^ D.([VASDT])\S{3} (\S+)/gm),
    pixelFormats: firstWords(await ask("-pix_fmts"), /^[I.][O.][H.][P.][B.] (\S+) /gm),
    sampleFormats: firstWords(await ask("-sample_fmts"), /^(?!name)(\S+) +\d+ *$/gm),
    layouts: firstWords(await ask("-layouts"), /^(?!NAME|Individual|Standard)(\S+) +\S/gm),
    colors: firstWords(await ask("-colors"), /^(\S+) +#/gm).toLowerCase(),
    dispositions: firstWords(await ask("-dispositions"), /^(\w+)$/gm),
  }
}

function firstWords(listed: string, line: RegExp): string {
  return Array.from(listed.matchAll(line), ([, name = ""]) => name).join(" ")
}

function readCodecs(listed: string, line: RegExp): string {
  return Array.from(listed.matchAll(line), ([, media = "", name = ""]) => `${name}:${media}`).join(
    " ",
  )
}

/**
 * Reads the options of the ffmpeg program itself, which precede the options of its libraries in the
 * help text.
 */
function readOwnOptions(help: string): string {
  const [own = ""] = help.split("AVCodecContext AVOptions:", 1)
  const names = Array.from(own.matchAll(/^-([a-z_0-9]+)/gim), ([, name = ""]) => name)
  return [...new Set(names)].join(" ")
}

/**
 * Formats the options that apply to every codec, format, scaler, resampler or filter, and the
 * merged options of all single codecs and all single formats.
 */
function readGeneric(classes: ReturnType<typeof readOptionClasses>): string {
  const end = classes.findIndex(({ name }) => name === "AVFilter")
  const named = new Map(classes.slice(0, end + 1).map((each) => [each.name, each.options]))
  const classNames = [
    ["codec", "AVCodecContext"],
    ["format", "AVFormatContext"],
    ["sws", "SWScaler"],
    ["swr", "SWResampler"],
    ["filter", "AVFilter"],
  ] as const
  const known = new Set(classNames.map(([, name]): string => name))
  const formatsAt = classes.findIndex(({ name }) => name === "AVFormatContext")
  function merged(begin: number, to: number): string[] {
    const others = classes.slice(begin, to).filter(({ name }) => !known.has(name))
    return mergeOptions(others.flatMap(({ options }) => options))
  }
  return [
    ...classNames.map(([name, of]) => line(name, "", named.get(of) ?? [])),
    line("codecs", "", merged(0, formatsAt)),
    line("formats", "", merged(formatsAt, end)),
  ].join("\n")
}

/**
 * Merges options by name. Different options with the same name become an option of type text, whose
 * values are not checked.
 */
function mergeOptions(options: readonly string[]): string[] {
  const merged = new Map<string, Set<string>>()
  for (const option of options) {
    const [names = "", ...facts] = option.split(/(?=:)/)
    for (const name of names.split("=")) {
      merged.set(name, (merged.get(name) ?? new Set()).add(facts.join("")))
    }
  }
  return Array.from(merged, ([name, kinds]) => {
    const [only = "", ...more] = kinds
    if (more.length === 0) return name + only
    const sides = [...kinds].map((kind) => /^:.([ED]*)/.exec(kind)?.[1] ?? "").join("")
    return `${name}:s${/E/.test(sides) ? "E" : ""}${/D/.test(sides) ? "D" : ""}`
  })
}

async function readFilters(
  ask: Ask,
  listed: string,
  classes: ReturnType<typeof readOptionClasses>,
): Promise<string> {
  const begin = classes.findIndex(({ name }) => name === "AVFilter") + 1
  const found = classes.slice(begin)
  const lines = listed.matchAll(/^ ([T.])[S.][C.]? +(\S+) +(\S+)->(\S+)/gm)
  return await eachOf(lines, async ([, timeline = "", name = "", inputs, outputs]) => {
    const at = found.findIndex((each) => each.name === name)
    const own = at < 0 ? readOptionClasses(await ask("-h", `filter=${name}`)) : found.slice(at)
    const end = own.findIndex((each, index) => index > 0 && !SHARED_CLASSES.has(each.name))
    const options = own.slice(0, end < 0 ? undefined : end).flatMap((each) => each.options)
    return line(name, `${timeline === "T" ? "T" : ""} ${inputs}>${outputs}`, options)
  })
}

async function readEncoders(ask: Ask): Promise<string> {
  const listed = (await ask("-encoders")).matchAll(/^ ([VAS])..([X.])\S\S (?!=)(\S+)/gm)
  return await eachOf(listed, async ([, media = "", experimental = "", name = ""]) => {
    if (PLAIN_ENCODERS.test(name)) return line(name, media, [])
    const help = await ask("-h", `encoder=${name}`)
    const facts = [
      ["r", / {4}Supported sample rates: (.*)/],
      ["f", / {4}Supported sample formats: (.*)/],
      ["l", / {4}Supported channel layouts: (.*)/],
    ] as const
    const meta = facts.flatMap(([key, pattern]) => {
      const values = pattern.exec(help)?.[1]?.trim().split(/[ ,]+/)
      return values ? [`${key}=${values.join(",")}`] : []
    })
    const experimentally = experimental === "X" ? ["X"] : []
    const [own] = readOptionClasses(help)
    return line(name, [media, ...experimentally, ...meta].join(" "), own?.options ?? [])
  })
}

async function readMuxers(ask: Ask): Promise<string> {
  const names = parseComponentNames("muxers", await ask("-muxers"))
  return await eachOf(names, async (name) => {
    const help = await ask("-h", `muxer=${name}`)
    const facts = [
      ["x", / {4}Common extensions: (.*)\./],
      ["v", / {4}Default video codec: (.*)\./],
      ["a", / {4}Default audio codec: (.*)\./],
      ["s", / {4}Default subtitle codec: (.*)\./],
    ] as const
    const meta = facts.flatMap(([key, pattern]) => {
      const values = pattern.exec(help)?.[1]
      return values === undefined ? [] : [`${key}=${values}`]
    })
    const [own] = readOptionClasses(help)
    return line(name, meta.join(" "), own?.options ?? [])
  })
}

async function readBsfs(ask: Ask, classes: ReturnType<typeof readOptionClasses>): Promise<string> {
  const listed = parseComponentNames("bsfs", await ask("-bsfs"))
  const names = listed.filter((name) => !name.includes(" "))
  return await eachOf(names, async (name) => {
    const known = classes.find((each) => each.name === name || each.name === `${name}_bsf`)
    const own = known ?? readOptionClasses(await ask("-h", `bsf=${name}`))[0]
    return line(name, "", own?.options ?? [])
  })
}

async function eachOf<Item>(items: Iterable<Item>, read: (item: Item) => Promise<string>) {
  const lines = await pMap(items, read, { concurrency: availableParallelism() })
  return shorten(lines).join("\n")
}

function line(name: string, meta: string, options: readonly string[]): string {
  return [name, meta, options.join(" ")].join("\t")
}

/** Replaces the options of a line by `@` and the name of an earlier line with the same options. */
function shorten(lines: readonly string[]): string[] {
  const byName = new Map<string, string>()
  return lines.map((each) => {
    const [name = "", meta = "", options = ""] = each.split("\t")
    const earlier = byName.get(options)
    if (options === "" || earlier === undefined) {
      byName.set(options, name)
      return each
    }
    return [name, meta, `@${earlier}`].join("\t")
  })
}
