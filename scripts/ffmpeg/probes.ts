import { execFile } from "node:child_process"
import { basename } from "node:path"
import { isDeepStrictEqual, promisify } from "node:util"
import pMap from "p-map"

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024
const ARGUMENTS = [
  ..."-v error -print_format json -show_format -show_streams -show_chapters".split(" "),
  ..."-show_packets -read_intervals %+#64".split(" "),
]

/** Results of two ffprobe programs for the same file; `refused` for a program that fails. */
type Probes = { name: string; one: unknown; other: unknown }

/** Probes files with two ffprobe programs. Returns the files whose results differ. */
export async function findProbeDifferences(
  one: string,
  other: string,
  files: readonly string[],
): Promise<Probes[]> {
  const probed = await pMap(
    files,
    async (path) => {
      return { name: basename(path), one: await probe(one, path), other: await probe(other, path) }
    },
    { concurrency: 2 },
  )
  return probed.filter((probes) => !isDeepStrictEqual(probes.one, probes.other))
}

/** Formats the differences of two probe results, one line for each path of JSON keys. */
export function describeProbeDifferences({ name, one, other }: Probes): string {
  return [name, ...differencesOf(one, other, "")].join("\n  ")
}

/** Returns the version of an ffmpeg program, such as "7.1.5". */
export async function readFfmpegVersion(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, ["-version"])
  return /^\S+ version ([0-9.]+)/.exec(stdout)?.[1] ?? stdout
}

async function probe(program: string, path: string): Promise<unknown> {
  const words = [...ARGUMENTS, "-i", `file:${path}`]
  return await promisify(execFile)(program, words, { maxBuffer: OUTPUT_BYTES_MAX }).then(
    ({ stdout }) => JSON.parse(stdout) as unknown,
    () => "refused",
  )
}

function differencesOf(one: unknown, other: unknown, path: string): string[] {
  if (isDeepStrictEqual(one, other)) return []
  if (!isObject(one) || !isObject(other)) {
    return [`${path}: ${JSON.stringify(one)} | ${JSON.stringify(other)}`]
  }
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].flatMap((key) => differencesOf(one[key], other[key], `${path}/${key}`))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null
}
