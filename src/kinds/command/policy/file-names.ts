import { beginsWithProtocol, holdsUrl } from "./protocols.ts"
import { quote } from "./refusal.ts"
import type { Refusal } from "./refusal.ts"
import type { Terms } from "./terms.ts"

/** What a command does with a file that it names. */
export type FileUse = "input" | "output" | "read" | "write" | "font" | "folder"

/** The files that a workspace is known to have: those of inputs, and those that outputs will be. */
export type WorkspaceNames = {
  inputs: Pick<ReadonlySet<string>, "has">
  outputs: ReadonlySet<string>
  terms: Terms
  /** What to write in the place of a plain name that no file has; null where one may have it. */
  insteadOfAbsent?: (name: string, use: FileUse) => string | null
}

type Fault = Pick<Refusal, "code" | "message">

const SAFE_NAME = /^[\p{L}\p{N}\p{M}_()+@%$*?](?:[\p{L}\p{N}\p{M} ._()+@%$*?-]*)$/u
/** Names of inputs may be globs with sets of characters too. */
const SAFE_PATTERN = /^[\p{L}\p{N}\p{M}_()+@%$*?[](?:[\p{L}\p{N}\p{M} ._()+@%$*?!\][-]*)$/u

/** A path of Windows, whose backslashes a shell would have taken, or of a home. */
const OF_OWN_MACHINE = /^[a-z]:[^,;]|^(?:\/(?:home|Users|Volumes|mnt|root|tmp|media|data)|~)\//i

const CLIMBS = /(?:^|[^\p{L}\p{N}._-])\.\.(?:[/\\]|$)/u

/** What to write in the place of what is no file that may be used so. */
function insteadOf(use: FileUse, terms: Terms): string {
  switch (use) {
    case "input":
      return terms.nameInput
    case "output":
      return terms.nameOutput
    case "read":
      return terms.giveFile
    case "write":
      return `${terms.nameOutput}, or a plain file name`
    case "font":
      return "give the font as an input and name that here, or name one that is there, as font=DejaVu Sans"
    case "folder":
      return "write . for the folder that the inputs lie in"
  }
}

/** What keeps a value from being a file of the workspace; null where it is one. */
export function judgeFile(value: string, use: FileUse, names: WorkspaceNames): Fault | null {
  const writes = use === "output" || use === "write"
  if (use === "folder" && /^\.?\/?$/.test(value) && value !== "/") return null
  if ((use === "font" || use === "folder") && isSystemFont(value)) return null
  const name = value.replace(/^file:(?!.*:)/i, "")
  if (names.inputs.has(name)) return writes ? overwritesInput(name, names.terms) : null
  if (names.outputs.has(name)) return null
  const pattern = use === "input" ? SAFE_PATTERN : SAFE_NAME
  if (pattern.test(name)) return absentFault(name, use, names)
  return judgePlace(value, use, names.terms) ?? oddName(value, use, names.terms)
}

/** A plain name that is to be read and that no file has. */
function absentFault(name: string, use: FileUse, names: WorkspaceNames): Fault | null {
  const instead = names.insteadOfAbsent?.(name, use) ?? null
  if (instead === null) return null
  const message = `${quote(name)}: there is no file of this name; ${instead}`
  return { code: "unknown_key", message }
}

/** The fonts of the system, which every job may read. */
function isSystemFont(value: string): boolean {
  return /^\/usr\/(?:local\/)?share\/fonts(?:\/[\w .-]+)*\/?$/.test(value) && !CLIMBS.test(value)
}

/** What a value says of a place outside of the workspace; null where it says nothing of one. */
export function judgePlain(value: string, terms: Terms): Fault | null {
  if (holdsUrl(value) || beginsWithProtocol(value)) return judgePlace(value, null, terms)
  const outside = [value, ...value.split(/[=,:|;]/)].find((part) => /^\s*(?:[/~]\S|~$)/.test(part))
  if (outside === undefined && !CLIMBS.test(value)) return null
  return pathFault(value, terms.nameEither)
}

function judgePlace(value: string, use: FileUse | null, terms: Terms): Fault | null {
  const instead = use === null ? terms.nameEither : insteadOf(use, terms)
  if (/^(?:-$|pipe:|fd:)/i.test(value)) {
    const why = "a command has no standard input or output"
    const how =
      use === "write"
        ? `${instead}, or leave it out: the log of a job has what is printed`
        : instead
    return { code: "stdio_not_allowed", message: `${quote(value)}: ${why}; ${how}` }
  }
  if (/^file:\/\//i.test(value) && use === "input") {
    return { ...ownMachineFault(value, terms), code: "url_not_allowed" }
  }
  if (/^svc_id:\/\//i.test(value) && use === "input") {
    const why = "a command names its inputs by keys"
    return { code: "url_not_allowed", message: `${quote(value)}: ${why}; ${terms.giveUrl}` }
  }
  if (holdsUrl(value) && !/^(?:subfile|async|cache|crypto|concatf?|data)\b/i.test(value)) {
    const how = use === "input" ? terms.giveUrl : instead
    const why = "a command reaches no network and no URL"
    return { code: "url_not_allowed", message: `${quote(value)}: ${why}; ${how}` }
  }
  if (OF_OWN_MACHINE.test(value) && use !== "output" && use !== "write") {
    return ownMachineFault(value, terms)
  }
  if (/^www\.\w/i.test(value) && use === "input") {
    const why = "a command reaches no network and no URL"
    return {
      code: "url_not_allowed",
      message: `${quote(value)}: ${why}; ${terms.giveUrl}, with https:// before it`,
    }
  }
  if (/^[a-z][a-z0-9+.-]*[:,]/i.test(value) && !/^[a-z]:[\\/]/i.test(value)) {
    const why = "protocols are not allowed"
    return { code: "protocol_not_allowed", message: `${quote(value)}: ${why}; ${instead}` }
  }
  if (!/^\s*[/~]|[/\\]|^\.\.?$/.test(value)) return null
  return pathFault(value, use === "input" ? terms.uploadFirst : instead)
}

function ownMachineFault(value: string, terms: Terms): Fault {
  const why = "this is a file of your own machine, which the service does not see"
  return { code: "path_not_allowed", message: `${quote(value)}: ${why}; ${terms.uploadFirst}` }
}

function pathFault(value: string, instead: string): Fault {
  const why = "paths and folders are not allowed, since a command has one folder and nothing else"
  return { code: "path_not_allowed", message: `${quote(value)}: ${why}; ${instead}` }
}

function oddName(value: string, use: FileUse, terms: Terms): Fault {
  const why = "this is no file name of letters, digits, spaces and . _ - ( ) + @ % $ * ?"
  const message = `${quote(value)}: ${why}; ${insteadOf(use, terms)}`
  return { code: "name_not_allowed", message }
}

function overwritesInput(name: string, terms: Terms): Fault {
  const message = `${quote(name)}: an input would be written over; ${terms.nameOutput}`
  return { code: "overwrites_input", message }
}
