import { readDictionary } from "./tokens.ts"
import type { Pair } from "./tokens.ts"

/** Parameters of encoders that are names of files, as written without underscores and capitals. */
const FILES = new Set(
  "stats dump-yuv cqm cqmfile cqm-file qpfile opencl-clbin clbin-file csv analysis-save analysis-load analysis-reuse-file dhdr10-info scaling-list lambda-file recon log-file nalu-file zonefile dolby-vision-rpu film-grain aom-film-grain tonemapfile multi-pass-file stat-file stats-file stats-path fgs-table roi-map-file input output film-grain-table film-grain-test-vector vmaf-model-path partition-info-path second-pass-log two-pass-input two-pass-output rate-distribution-info rcstatsfile tracefile summaryoutfilename summarypicfilenamebase qp-file scaling-list-file roi cqmfile-4x4".split(
    " ",
  ),
)

/** Values of such parameters that are no file. */
const WORDS_FOR_NO_FILE = /^(?:off|on|default|flat|jvt|auto|none|true|false|[\d.]+)$/i

/** Reads the parameters of an encoder, both as lists with escapes and as lists without. */
export function readParameters(option: string, text: string): Pair[] {
  const separator = option.startsWith("kvazaar") ? "," : ":"
  const plain = text.split(separator).map((pair) => {
    const [name = "", ...value] = pair.split("=")
    return { name: name.trim(), value: value.join("=") }
  })
  return [...readDictionary(text, separator), ...plain]
}

/** Whether a parameter of an encoder names a file. */
export function isFileParameter({ name, value }: Pair): boolean {
  const plain = (name ?? "")
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/^-*(?:no-)?/, "")
  return FILES.has(plain) && !WORDS_FOR_NO_FILE.test(value)
}
