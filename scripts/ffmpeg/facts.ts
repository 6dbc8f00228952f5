import { execFile } from "node:child_process"
import { availableParallelism } from "node:os"
import { promisify } from "node:util"
import pMap from "p-map"
import type { FfmpegFacts } from "../../src/kinds/command/facts/ffmpeg-facts.ts"
import { readNames } from "./differences.ts"
import { readClasses } from "./read-help.ts"

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024
/** Encoders with nothing to be said of them, or which no command may use. */
const PLAIN_ENCODERS =
  /^(?:pcm_|adpcm_)|_(?:amf|cuvid|mf|nvenc|omx|qsv|v4l2m2m|vaapi|videotoolbox|vulkan)$/

/** Classes of options that filters have beside their own. */
const SHARED_CLASSES = new Set(["framesync", "SWScaler", "SWResampler", "AVDCT"])

type Ask = (...words: string[]) => Promise<string>

/** All that an ffmpeg says of what it knows, in the form that commands are judged by. */
export async function readFacts(program: string): Promise<FfmpegFacts> {
  async function ask(...words: string[]) {
    const options = { maxBuffer: OUTPUT_BYTES_MAX }
    return (await promisify(execFile)(program, ["-hide_banner", ...words], options)).stdout
  }
  const [full, version, filters, codecs] = await pMap(
    [["-h", "full"], ["-version"], ["-filters"], ["-codecs"]],
    async (words) => await ask(...words),
    { concurrency: availableParallelism() },
  )
  const classes = readClasses(full ?? "")
  return {
    version: /^ffmpeg version (\S+)/.exec(version ?? "")?.[1] ?? "unknown",
    options: readOwnOptions(full ?? ""),
    generic: readGeneric(classes),
    filters: await readFilters(ask, filters ?? "", classes),
    encoders: await readEncoders(ask),
    muxers: await readMuxers(ask),
    bsfs: await readBsfs(ask, classes),
    decoders: readNames("decoders", await ask("-decoders")).join(" "),
    demuxers: readNames("demuxers", await ask("-demuxers")).join(" "),
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

/** Options of ffmpeg itself, which its help has before those of its libraries. */
function readOwnOptions(help: string): string {
  const [own = ""] = help.split("AVCodecContext AVOptions:", 1)
  const names = Array.from(own.matchAll(/^-([a-z_0-9]+)/gim), ([, name = ""]) => name)
  return [...new Set(names)].join(" ")
}

/** Options of the libraries themselves, and those of all codecs and of all formats. */
function readGeneric(classes: ReturnType<typeof readClasses>): string {
  const end = classes.findIndex(({ name }) => name === "AVFilter")
  const named = new Map(classes.slice(0, end + 1).map((each) => [each.name, each.options]))
  const wanted = [
    ["codec", "AVCodecContext"],
    ["format", "AVFormatContext"],
    ["sws", "SWScaler"],
    ["swr", "SWResampler"],
    ["filter", "AVFilter"],
  ] as const
  const known = new Set(wanted.map(([, name]): string => name))
  const formatsAt = classes.findIndex(({ name }) => name === "AVFormatContext")
  function merged(begin: number, to: number): string[] {
    const others = classes.slice(begin, to).filter(({ name }) => !known.has(name))
    return mergeOptions(others.flatMap(({ options }) => options))
  }
  return [
    ...wanted.map(([name, of]) => line(name, "", named.get(of) ?? [])),
    line("codecs", "", merged(0, formatsAt)),
    line("formats", "", merged(formatsAt, end)),
  ].join("\n")
}

/** Options by name; those of one name that differ are texts, of which nothing is known. */
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
  classes: ReturnType<typeof readClasses>,
): Promise<string> {
  const begin = classes.findIndex(({ name }) => name === "AVFilter") + 1
  const found = classes.slice(begin)
  const lines = listed.matchAll(/^ ([T.])[S.][C.]? +(\S+) +(\S+)->(\S+)/gm)
  return await eachOf(lines, async ([, timeline = "", name = "", inputs, outputs]) => {
    const at = found.findIndex((each) => each.name === name)
    const own = at < 0 ? readClasses(await ask("-h", `filter=${name}`)) : found.slice(at)
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
    const [own] = readClasses(help)
    return line(name, [media, ...experimentally, ...meta].join(" "), own?.options ?? [])
  })
}

async function readMuxers(ask: Ask): Promise<string> {
  const names = readNames("muxers", await ask("-muxers"))
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
    const [own] = readClasses(help)
    return line(name, meta.join(" "), own?.options ?? [])
  })
}

async function readBsfs(ask: Ask, classes: ReturnType<typeof readClasses>): Promise<string> {
  const names = readNames("bsfs", await ask("-bsfs")).filter((name) => !name.includes(" "))
  return await eachOf(names, async (name) => {
    const known = classes.find((each) => each.name === name || each.name === `${name}_bsf`)
    const own = known ?? readClasses(await ask("-h", `bsf=${name}`))[0]
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

/** Lines whose options are those of an earlier one name that instead. */
function shorten(lines: readonly string[]): string[] {
  const seen = new Map<string, string>()
  return lines.map((each) => {
    const [name = "", meta = "", options = ""] = each.split("\t")
    const earlier = seen.get(options)
    if (options === "" || earlier === undefined) {
      seen.set(options, name)
      return each
    }
    return [name, meta, `@${earlier}`].join("\t")
  })
}
