/** Option in ffmpeg's help text. */
type HelpOption = { names: string[]; line: string; description: string; constants: string[] }

/** Letters for ffmpeg's types of options. All other types are text (`s`). */
const TYPES: Record<string, string> = {
  "<boolean>": "b",
  "<int>": "i",
  "<int64>": "i",
  "<uint64>": "i",
  "<unsigned>": "i",
  "<float>": "f",
  "<double>": "f",
  "<rational>": "r",
  "<video_rate>": "v",
  "<image_size>": "z",
  "<pix_fmt>": "p",
  "<sample_fmt>": "a",
  "<channel_layout>": "l",
  "<color>": "c",
  "<duration>": "t",
  "<flags>": "g",
}

const OPTION = /^ {1,3}-?(\S+?) *(\[?<\w+> *\]?) *([ED.][D.][F.]\S*) ?(.*)$/
const CONSTANT = /^ {4,5}(\S+) +(?:(-?\d+) +)?[ED.][D.][F.]\S*(?: |$)/
const RANGE = /\(from (\S+) to (\S+)\)(?: \(default .*\))?$/

/**
 * Reads the classes of options from a help text of ffmpeg. Each class contains its options in the
 * form that `compact` returns.
 */
export function readOptionClasses(help: string): { name: string; options: string[] }[] {
  const classes: { name: string; found: HelpOption[] }[] = []
  for (const line of help.split("\n")) {
    const name = /^(\S.*) AVOptions:$/.exec(line)?.[1]
    if (name === undefined) readInto(classes.at(-1)?.found, line)
    else classes.push({ name, found: [] })
  }
  return classes.map(({ name, found }) => ({
    name,
    options: withoutAliases(found).map(compact),
  }))
}

function readInto(found: HelpOption[] | undefined, line: string): void {
  const option = OPTION.exec(line)
  if (option) {
    const [, name = "", type = "", flags = "", text = ""] = option
    const [, min = "", max = ""] = RANGE.exec(text) ?? []
    const letter = TYPES[type.trim()] ?? "s"
    const side = flags.replace(/^(.)(.).*/, (_, encodes: string, decodes: string) => {
      return `${encodes === "E" ? "E" : ""}${decodes === "D" ? "D" : ""}`
    })
    const range = [bound(min), bound(max)].join(":").replace(/:$/, "")
    const written = [letter + side, ...(range ? [range] : [])].join(":")
    found?.push({ names: [name], line: written, description: flags + text, constants: [] })
    return
  }
  const constant = CONSTANT.exec(line)?.[1]
  if (constant !== undefined) found?.at(-1)?.constants.push(constant)
}

/**
 * Returns the minimum or maximum of an option as the text of a number. Returns an empty text if it
 * is only the limit of the option's data type, such as the largest 32-bit integer.
 */
function bound(text: string): string {
  const value = Number(text)
  return text !== "" && Math.abs(value) < 2 ** 31 - 1024 ? String(value) : ""
}

/**
 * Merges aliases: an option with the same description and constants as the option before counts as
 * an alias of that option.
 */
function withoutAliases(options: readonly HelpOption[]): HelpOption[] {
  const kept: HelpOption[] = []
  for (const option of options) {
    const last = kept.at(-1)
    const isSame =
      last !== undefined &&
      last.description === option.description &&
      last.line === option.line &&
      last.constants.join() === option.constants.join() &&
      /[a-z]/.test(option.description.replace(/\(.*/, ""))
    if (isSame) last.names.push(...option.names)
    else kept.push(option)
  }
  return kept
}

/** Formats an option as `name=alias:type:min:max`, followed by its constants as `|one|two`. */
function compact({ names, line, constants }: HelpOption): string {
  return `${names.join("=")}:${line}${constants.map((name) => `|${name}`).join("")}`
}
