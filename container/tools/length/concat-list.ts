import { basename, join } from "node:path"
import { lastValue, readCommand } from "../../../src/contract/command-line.ts"
import { parseTime } from "../../../src/contract/media-time.ts"
import { openPlainFile } from "../../sandbox/workspace.ts"

const LIST_BYTES_MAX = 256 * 1024

/** Length of a file by its name in the workspace, in seconds; null where it is not known. */
type SecondsOf = (name: string) => number | null

/** The lengths of the concat lists that a command reads, by their names, as far as they are known. */
export async function readConcatLists(
  argv: readonly string[],
  workspace: string,
  secondsOf: SecondsOf,
): Promise<Map<string, number>> {
  const lengths = new Map<string, number>()
  for (const file of argv.includes("concat") ? readCommand(argv).files : []) {
    if (file.kind !== "input" || lastValue(file, "f") !== "concat") continue
    const text = await readText(workspace, file.word)
    const seconds = text === null ? null : secondsOfList(text, secondsOf)
    if (seconds !== null) lengths.set(file.word, seconds)
  }
  return lengths
}

/** The length of the files of a concat list, one behind the other; null where one is not known. */
export function secondsOfList(text: string, secondsOf: SecondsOf): number | null {
  const files: { seconds: number | null; from: number; to: number | null }[] = []
  for (const line of text.split(/\r?\n/)) {
    const [, directive, value = ""] =
      /^\s*(file|duration|inpoint|outpoint)\s+(.+?)\s*$/.exec(line) ?? []
    const last = files.at(-1)
    if (directive === "file") {
      files.push({ seconds: secondsOf(nameIn(value)), from: 0, to: null })
    } else if (last && directive === "duration") last.seconds = parseTime(value)
    else if (last && directive === "inpoint") last.from = parseTime(value) ?? 0
    else if (last && directive === "outpoint") last.to = parseTime(value)
  }
  const lengths = files.map(({ seconds, from, to }) => {
    const end = to ?? seconds
    return end === null ? null : Math.max(0, end - from)
  })
  const known = lengths.filter((length) => length !== null)
  return known.length === 0 || known.length < lengths.length
    ? null
    : known.reduce((sum, length) => sum + length, 0)
}

/** The length of `concat:one|other`; null where that of a part is not known, or it is no such input. */
export function secondsOfParts(word: string, secondsOf: SecondsOf): number | null {
  const parts = /^concat:(.+)$/s.exec(word)?.[1]?.split("|").map(secondsOf) ?? []
  const known = parts.filter((seconds) => seconds !== null)
  return known.length === 0 || known.length < parts.length
    ? null
    : known.reduce((sum, seconds) => sum + seconds, 0)
}

/** The name that a list writes with or without quotes, and perhaps a prefix. */
function nameIn(value: string): string {
  return value
    .replace(
      /'([^']*)'|\\([^])/g,
      (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? "",
    )
    .replace(/^(?:file:)?(?:\.\/)?/, "")
}

/** The text of a plain file that is not too long; null of any other, which a command may have made. */
async function readText(workspace: string, name: string): Promise<string | null> {
  if (basename(name) !== name) return null
  try {
    await using file = await openPlainFile(join(workspace, name))
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LIST_BYTES_MAX))
    return bytesRead < LIST_BYTES_MAX ? buffer.toString("utf8", 0, bytesRead) : null
  } catch {
    return null
  }
}
