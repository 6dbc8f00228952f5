import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { REASONS } from "./reasons.ts"

const OUTPUT_BYTES_MAX = 4 * 1024 * 1024

/** What ffmpeg lists by an option of the kind's name, and the lines that name one each. */
const KINDS = {
  filters: /^ [A-Z.|]{2,3} +(\S+) +\S+->\S+/,
  encoders: /^ [VAS][A-Z.]{5} (?!=)(\S+)/,
  decoders: /^ [VAS][A-Z.]{5} (?!=)(\S+)/,
  muxers: /^ [D ]E(?:[d ] | )([^\s=]+)/,
  demuxers: /^ D[E ](?:[d ] | )([^\s=]+)/,
  protocols: /^ {2}(\S+)$/,
  bsfs: /^(\S+)$/,
  devices: /^ [D ][E ] +(?!=)(\S+)/,
} as const

type Kind = keyof typeof KINDS

const KIND_NAMES: readonly Kind[] = [
  "filters",
  "encoders",
  "decoders",
  "muxers",
  "demuxers",
  "protocols",
  "bsfs",
  "devices",
]

/** Names of one kind that the other ffmpeg lacks, and why; null: no reason is written down. */
export type Difference = { kind: Kind; names: string[]; why: string | null }

/** What one ffmpeg has and the other lacks, by kinds and reasons; each is a name or a path. */
export async function findDifferences(has: string, lacks: string): Promise<Difference[]> {
  const found: Difference[] = []
  for (const kind of KIND_NAMES) {
    const names = await listNames(has, kind)
    const there = new Set(await listNames(lacks, kind))
    const missing = names.filter((name) => !there.has(name))
    const byReason = Map.groupBy(missing, (name) => reasonFor(kind, name))
    for (const [why, names] of byReason) found.push({ kind, names, why })
  }
  return found
}

/** Differences as a table of Markdown. */
export function toMarkdown(differences: readonly Difference[]): string {
  const rows = differences.map(({ kind, names, why }) => {
    return `| ${kind} | ${names.map((name) => `\`${name}\``).join(" ")} | ${why ?? ""} |`
  })
  return ["| what | names | why not |", "| --- | --- | --- |", ...rows].join("\n")
}

/** The names of one kind in ffmpeg's own list of them. */
export function readNames(kind: Kind, listed: string): string[] {
  const found = listed.split("\n").flatMap((line) => KINDS[kind].exec(line)?.[1]?.split(",") ?? [])
  return [...new Set(found)].toSorted()
}

/** The names of one kind that an ffmpeg or ffprobe has. */
export async function listNames(program: string, kind: Kind): Promise<string[]> {
  const options = { maxBuffer: OUTPUT_BYTES_MAX }
  const { stdout } = await promisify(execFile)(program, ["-hide_banner", `-${kind}`], options)
  return readNames(kind, stdout)
}

function reasonFor(kind: string, name: string): string | null {
  const found = REASONS.find(({ kinds, names }) => kinds.includes(kind) && names.test(name))
  return found?.why ?? null
}
