import { beginsWithProtocol, holdsUrl } from "./protocols.ts"
import { quote } from "./refusal.ts"
import type { Reason, Refusal } from "./refusal.ts"

/** What a command does with a file that it names. */
export type FileUse = "input" | "output" | "read" | "write" | "font" | "folder"

/** The files that a workspace is known to have: those of inputs, and those that outputs will be. */
export type WorkspaceNames = {
  inputs: Pick<ReadonlySet<string>, "has">
  outputs: ReadonlySet<string>
}

type Fault = Pick<Refusal, "code" | "message">

const SAFE_NAME = /^[\p{L}\p{N}\p{M}_()+@%$*?](?:[\p{L}\p{N}\p{M} ._()+@%$*?-]*)$/u
/** Names of inputs may be globs with sets of characters too. */
const SAFE_PATTERN = /^[\p{L}\p{N}\p{M}_()+@%$*?[](?:[\p{L}\p{N}\p{M} ._()+@%$*?!\][-]*)$/u

const CLIMBS = /(?:^|[^\p{L}\p{N}._-])\.\.(?:[/\\]|$)/u

const INSTEAD: Record<FileUse, string> = {
  input: "name a key of input_files here",
  output: "name a key of output_files here",
  read: "upload the file and name its key of input_files here",
  write: "name a key of output_files here, or a plain file name",
  font: "upload the font and name its key here, or name one that is there, as font=DejaVu Sans",
  folder: "write . for the folder that the inputs lie in",
}

/** What keeps a value from being a file of the workspace; null where it is one. */
export function judgeFile(value: string, use: FileUse, names: WorkspaceNames): Fault | null {
  const writes = use === "output" || use === "write"
  if (use === "folder" && /^\.?\/?$/.test(value) && value !== "/") return null
  if ((use === "font" || use === "folder") && isSystemFont(value)) return null
  const name = value.replace(/^file:(?!.*:)/i, "")
  if (names.inputs.has(name)) return writes ? overwritesInput(name) : null
  if (names.outputs.has(name)) return null
  const pattern = use === "input" ? SAFE_PATTERN : SAFE_NAME
  if (pattern.test(name)) return null
  return judgePlace(value, INSTEAD[use], use) ?? oddName(value, INSTEAD[use])
}

/** The fonts of the system, which every job may read. */
function isSystemFont(value: string): boolean {
  return /^\/usr\/(?:local\/)?share\/fonts(?:\/[\w .-]+)*\/?$/.test(value) && !CLIMBS.test(value)
}

/** What a value says of a place outside of the workspace; null where it says nothing of one. */
export function judgePlain(value: string): Fault | null {
  const instead = "name a key of input_files or output_files here"
  if (holdsUrl(value) || beginsWithProtocol(value)) return judgePlace(value, instead)
  const outside = [value, ...value.split(/[=,:|;]/)].find((part) => /^\s*(?:[/~]\S|~$)/.test(part))
  if (outside === undefined && !CLIMBS.test(value)) return null
  return pathFault(value, instead)
}

function judgePlace(value: string, instead: string, use?: FileUse): Fault | null {
  if (/^(?:-$|pipe:|fd:)/i.test(value)) {
    const why = "a command has no standard input or output"
    return { code: "stdio_not_allowed", message: `${quote(value)}: ${why}; ${instead}` }
  }
  if (holdsUrl(value) && !/^(?:subfile|async|cache|crypto|concatf?|data)\b/i.test(value)) {
    const how = use === "input" ? "give the URL in input_files and name its key here" : instead
    const why = "a command reaches no network and no URL"
    return { code: "url_not_allowed", message: `${quote(value)}: ${why}; ${how}` }
  }
  if (/^[a-z][a-z0-9+.-]*[:,]/i.test(value) && !/^[a-z]:[\\/]/i.test(value)) {
    const why = "protocols are not allowed"
    return { code: "protocol_not_allowed", message: `${quote(value)}: ${why}; ${instead}` }
  }
  return /^\s*[/~]|[/\\]|^\.\.?$/.test(value) ? pathFault(value, instead) : null
}

function pathFault(value: string, instead: string): Fault {
  const why = "paths and folders are not allowed, since a command has one folder and nothing else"
  return { code: "path_not_allowed", message: `${quote(value)}: ${why}; ${instead}` }
}

/** What a shell, or a text editor, would have made of a word. */
const SLIPS: readonly (Reason & { words: RegExp })[] = [
  {
    words: /^(?:&&?|\|\|?|;|\d?>>?.*|\d>&\d|<.*|#.*|\^)$|^\$\(|^`/s,
    why: "no shell reads this",
    instead: "leave it out, and give several commands in ffmpeg_commands",
  },
  {
    words: /^[\u2010-\u2015\u2212]/,
    why: "this begins with a dash that is no minus sign",
    instead: "write - for an option",
  },
  {
    words: /^[\u2018-\u201f\u00ab\u00bb]/,
    why: "these quotes are letters here",
    instead: "quote with ' or \"",
  },
  {
    words: /^\s*$/,
    why: "this is a word of nothing but space",
    instead: "look for a backslash that has a space, and no line's end, behind it",
  },
]

function oddName(value: string, instead: string): Fault {
  const slip = SLIPS.find(({ words }) => words.test(value))
  const odd = "this is no file name of letters, digits, spaces and . _ - ( ) + @ % $ * ?"
  const message = `${quote(value)}: ${slip?.why ?? odd}; ${slip?.instead ?? instead}`
  return { code: "name_not_allowed", message }
}

function overwritesInput(name: string): Fault {
  const message = `${quote(name)}: an input would be written over; name a key of output_files here`
  return { code: "overwrites_input", message }
}
