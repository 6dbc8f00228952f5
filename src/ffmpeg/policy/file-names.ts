import { quoteShortenedValue } from "./refusal.ts"
import type { CommandRefusal } from "./refusal.ts"
import type { RemedyPhrases } from "./remedies.ts"

/** Names of the protocols of ffmpeg 5 to 9, except `file`. */
const PROTOCOLS =
  "amqp async bluray cache concat concatf crypto data dtls fd ffrtmpcrypt ffrtmphttp ftp gopher gophers hls http httpproxy https icecast ipfs ipns libsrt md5 mmsh mmst pipe prompeg rist rtmp rtmpe rtmps rtmpt rtmpte rtmpts rtp rtsp sctp sftp shared smb srt srtp subfile tcp tee tls udp udplite unix zmq"

const NAMED = new RegExp(`^(?:file|${PROTOCOLS.replaceAll(" ", "|")})(?:[+,][^:]*)?:`, "i")

/** Reports whether a value begins with an ffmpeg protocol, such as `pipe:1`. */
function beginsWithProtocol(value: string): boolean {
  return NAMED.test(value)
}

/** Reports whether a value contains a URL of any scheme. */
function holdsUrl(value: string): boolean {
  return /[a-z0-9+.-]:\/\//i.test(value)
}

/** Use of a file by an ffmpeg command, such as reading or writing the file. */
export type FilePurpose = "input" | "output" | "read" | "write" | "font" | "folder"

/**
 * File names of the inputs and outputs in a workspace. `remedies` contains the phrases by which
 * messages tell the caller how to correct a refused command.
 */
export type WorkspaceFileNames = {
  inputs: Pick<ReadonlySet<string>, "has">
  outputs: ReadonlySet<string>
  remedies: RemedyPhrases
  /**
   * Returns the remedy if a command uses a file name that the workspace certainly lacks. Returns
   * null if the file can be present, such as a file that an earlier command writes.
   */
  remedyForMissingFile?: (name: string, use: FilePurpose) => string | null
}

type Fault = Pick<CommandRefusal, "code" | "message">

const SAFE_NAME = /^[\p{L}\p{N}\p{M}_()+@%$*?](?:[\p{L}\p{N}\p{M} ._()+@%$*?-]*)$/u
/** Matches a safe file name of an input, which may also be a glob pattern with character sets. */
const SAFE_PATTERN = /^[\p{L}\p{N}\p{M}_()+@%$*?[](?:[\p{L}\p{N}\p{M} ._()+@%$*?!\][-]*)$/u

/**
 * Matches a path that probably means the caller's own machine, such as a Windows path or a home
 * directory. Unquoting may have removed the backslashes of a Windows path.
 */
const OF_OWN_MACHINE = /^[a-z]:[^,;]|^(?:\/(?:home|Users|Volumes|mnt|root|tmp|media|data)|~)\//i

const CLIMBS = /(?:^|[^\p{L}\p{N}._-])\.\.(?:[/\\]|$)/u

/** Returns the remedy for a value that is not a usable file name, by the use of the file. */
function insteadOf(use: FilePurpose, remedies: RemedyPhrases): string {
  switch (use) {
    case "input":
      return remedies.nameInput
    case "output":
      return remedies.nameOutput
    case "read":
      return remedies.giveFile
    case "write":
      return `${remedies.nameOutput}, or a plain file name`
    case "font":
      return "give the font as an input and write its key here, or use an installed font, as in font=DejaVu Sans"
    case "folder":
      return "write . for the folder of the inputs"
  }
}

/** Returns the fault of a value that must name a file in the workspace; null if there is none. */
export function findFileNameFault(
  value: string,
  use: FilePurpose,
  names: WorkspaceFileNames,
): Fault | null {
  const writes = use === "output" || use === "write"
  if (use === "folder" && /^\.?\/?$/.test(value) && value !== "/") return null
  if ((use === "font" || use === "folder") && isSystemFont(value)) return null
  const name = value.replace(/^file:(?!.*:)/i, "")
  if (names.inputs.has(name)) return writes ? overwritesInput(name, names.remedies) : null
  if (names.outputs.has(name)) return null
  const pattern = use === "input" ? SAFE_PATTERN : SAFE_NAME
  if (pattern.test(name)) return absentFault(name, use, names)
  return judgeLocation(value, use, names.remedies) ?? invalidName(value, use, names.remedies)
}

/**
 * Returns the fault of a file name if the workspace certainly has no file of this name; otherwise
 * null.
 */
function absentFault(name: string, use: FilePurpose, names: WorkspaceFileNames): Fault | null {
  const instead = names.remedyForMissingFile?.(name, use) ?? null
  if (instead === null) return null
  const message = `${quoteShortenedValue(name)}: the command has no file of this name; ${instead}`
  return { code: "unknown_key", message }
}

/** Reports whether a path is a system font, which every job may read. */
function isSystemFont(value: string): boolean {
  return /^\/usr\/(?:local\/)?share\/fonts(?:\/[\w .-]+)*\/?$/.test(value) && !CLIMBS.test(value)
}

/**
 * Returns the fault of a value that contains a URL, a protocol or a path outside the workspace;
 * null if there is none.
 */
export function findUrlOrPathFault(value: string, remedies: RemedyPhrases): Fault | null {
  if (holdsUrl(value) || beginsWithProtocol(value)) return judgeLocation(value, null, remedies)
  const outside = [value, ...value.split(/[=,:|;]/)].find((part) => /^\s*(?:[/~]\S|~$)/.test(part))
  if (outside === undefined && !CLIMBS.test(value)) return null
  return pathFault(value, remedies.nameEither)
}

function judgeLocation(
  value: string,
  use: FilePurpose | null,
  remedies: RemedyPhrases,
): Fault | null {
  const instead = use === null ? remedies.nameEither : insteadOf(use, remedies)
  if (/^(?:-$|pipe:|fd:)/i.test(value)) {
    return {
      code: "stdio_not_allowed",
      message: `${quoteShortenedValue(value)}: ${stdioReason(use)}; ${instead}`,
    }
  }
  if (/^file:\/\//i.test(value) && use === "input") {
    return { ...ownMachineFault(value, remedies), code: "url_not_allowed" }
  }
  if (/^svc_id:\/\//i.test(value) && use === "input") {
    const why = "a command names its inputs by keys"
    return {
      code: "url_not_allowed",
      message: `${quoteShortenedValue(value)}: ${why}; ${remedies.giveUrl}`,
    }
  }
  if (holdsUrl(value) && !/^(?:subfile|async|cache|crypto|concatf?|data)\b/i.test(value)) {
    const how = use === "input" ? remedies.giveUrl : instead
    const why = "a command cannot reach a network or a URL"
    return { code: "url_not_allowed", message: `${quoteShortenedValue(value)}: ${why}; ${how}` }
  }
  if (OF_OWN_MACHINE.test(value) && use !== "output" && use !== "write") {
    return ownMachineFault(value, remedies)
  }
  if (/^www\.\w/i.test(value) && use === "input") {
    const why = "a command cannot reach a network or a URL"
    return {
      code: "url_not_allowed",
      message: `${quoteShortenedValue(value)}: ${why}; ${remedies.giveUrl}, with https:// before it`,
    }
  }
  if (/^[a-z][a-z0-9+.-]*[:,]/i.test(value) && !/^[a-z]:[\\/]/i.test(value)) {
    const why = "protocols are not allowed"
    return {
      code: "protocol_not_allowed",
      message: `${quoteShortenedValue(value)}: ${why}; ${instead}`,
    }
  }
  if (!/^\s*[/~]|[/\\]|^\.\.?$/.test(value)) return null
  return pathFault(value, use === "input" ? remedies.uploadFirst : instead)
}

function stdioReason(use: FilePurpose | null): string {
  if (use === "output") return "an output may be standard output, as - or pipe:1, and no other pipe"
  if (use === "write") return "this file cannot be standard output"
  return "a command has no standard input"
}

function ownMachineFault(value: string, remedies: RemedyPhrases): Fault {
  const why = "this file is on your own machine, which the service cannot read"
  return {
    code: "path_not_allowed",
    message: `${quoteShortenedValue(value)}: ${why}; ${remedies.uploadFirst}`,
  }
}

function pathFault(value: string, instead: string): Fault {
  const why = "paths and folders are not allowed, since a command has only one folder"
  return { code: "path_not_allowed", message: `${quoteShortenedValue(value)}: ${why}; ${instead}` }
}

function invalidName(value: string, use: FilePurpose, remedies: RemedyPhrases): Fault {
  const why = "a file name has only letters, digits, spaces and . _ - ( ) + @ % $ * ?"
  const message = `${quoteShortenedValue(value)}: ${why}; ${insteadOf(use, remedies)}`
  return { code: "name_not_allowed", message }
}

function overwritesInput(name: string, remedies: RemedyPhrases): Fault {
  const message = `${quoteShortenedValue(name)}: a command cannot overwrite its inputs; ${remedies.nameOutput}`
  return { code: "overwrites_input", message }
}
