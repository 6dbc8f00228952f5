import { checkGraph } from "./check-graph.ts"
import { reasonAgainstCodec } from "./codecs.ts"
import { isFileParameter, readParameters } from "./encoder-parameters.ts"
import { judgeFile, judgePlain } from "./file-names.ts"
import type { WorkspaceNames } from "./file-names.ts"
import { reasonAgainstInputFormat, reasonAgainstOutputFormat } from "./formats.ts"
import { kindOfOption, reasonAgainstInnerOption, reasonAgainstOption } from "./options.ts"
import type { OptionKind } from "./options.ts"
import type { ReadFile, ReadOption } from "../../../contract/command-line.ts"
import { quote } from "./refusal.ts"
import type { Reason, Refusal } from "./refusal.ts"
import { judgeThreads } from "./threads.ts"
import { readDictionary } from "./tokens.ts"

type Fault = Pick<Refusal, "code" | "message">

/** Where options stand: before which kind of file, in which workspace, how deep in others. */
export type OptionContext = { kind: ReadFile["kind"]; names: WorkspaceNames; depth?: number }

const DEPTH_MAX = 8

/** What an option of a command may not say. */
export function checkOption({ word, name, value }: ReadOption, place: OptionContext): Refusal[] {
  const reason = reasonAgainstOption(name)
  if (reason) return [refuse("option_not_allowed", word, word, reason)]
  if (value === null) return []
  const hidden = hiddenOption(name, value)
  if (hidden) return [hidden]
  return judgeValue(name, value, place).map(({ code, message }) => ({
    code,
    option: word,
    message: `${word}: ${message}`,
  }))
}

/** What an option within another option's value may not say. */
export function judgeInnerOption(name: string, value: string, place: OptionContext): Fault[] {
  const [plain = ""] = name.split(/[:/]/, 1)
  const depth = (place.depth ?? 0) + 1
  if (depth > DEPTH_MAX) {
    const message = `options stand in options more than ${DEPTH_MAX} deep; write fewer`
    return [{ code: "value_not_allowed", message }]
  }
  const reason = reasonAgainstInnerOption(plain)
  if (reason) {
    return [{ code: "option_not_allowed", message: `${name} ${reason.why}; ${reason.instead}` }]
  }
  return judgeValue(plain, value, { ...place, depth }).map(({ code, message }) => ({
    code,
    message: `${name}: ${message}`,
  }))
}

/** A value that another version of ffmpeg, to which the option stands alone, takes for an option. */
function hiddenOption(name: string, value: string): Refusal | null {
  if (!value.startsWith("-") || kindOfOption(name) === "text") return null
  const reason = reasonAgainstOption(value.slice(1).split(":", 1)[0] ?? "")
  return reason && refuse("option_not_allowed", value, value, reason)
}

function judgeValue(name: string, value: string, place: OptionContext): Fault[] {
  const kind = kindOfOption(name)
  switch (kind) {
    case "graph":
      return checkGraph(value, place.names, (inner, given) =>
        judgeInnerOption(inner, given, { ...place, kind: "input" }),
      )
    case "options":
      return readDictionary(value, ":").flatMap((pair) =>
        judgeInnerOption(pair.name ?? "", pair.value, place),
      )
    case "parameters":
      return readParameters(name, value)
        .flatMap((pair) =>
          isFileParameter(pair)
            ? judgeFile(pair.value, "write", place.names)
            : judgePlain(pair.value, place.names.terms),
        )
        .filter((fault) => fault !== null)
        .slice(0, 1)
    default:
      return [judgeSimple(kind, value, place)].filter((fault) => fault !== null)
  }
}

function judgeSimple(
  kind: Exclude<OptionKind, "graph" | "options" | "parameters"> | null,
  value: string,
  { kind: file, names }: OptionContext,
): Fault | null {
  switch (kind) {
    case "text":
      return null
    case "read":
    case "write":
      return judgeFile(value, kind, names)
    case "threads":
      return judgeThreads(value)
    case "format":
      return judgeBy("format_not_allowed", value, reasonAgainstFormat(value, file))
    case "codec":
      return judgeBy("codec_not_allowed", value, reasonAgainstCodec(value))
    case "acceleration":
      return judgeBy("value_not_allowed", value, reasonAgainstAcceleration(value))
    case "variants":
      return judgeVariants(value, names)
    case null:
      return judgePlain(value, names.terms)
  }
}

/** Why a format is refused where it stands. */
function reasonAgainstFormat(format: string, file: ReadFile["kind"]): Reason | null {
  return file === "input" ? reasonAgainstInputFormat(format) : reasonAgainstOutputFormat(format)
}

function reasonAgainstAcceleration(value: string): Reason | null {
  if (value === "auto" || value === "none") return null
  return { why: "needs a device, and a command has none", instead: "leave -hwaccel out" }
}

/** Names of variants become parts of file names, in the place of %v. */
function judgeVariants(value: string, { terms }: WorkspaceNames): Fault | null {
  const odd = value.split(/[\s,]+/).find((part) => /[/\\]|\.\./.test(part))
  return odd === undefined ? null : judgePlain(`/${odd}`, terms)
}

function judgeBy(code: Refusal["code"], value: string, reason: Reason | null): Fault | null {
  return reason && { code, message: `${quote(value)} ${reason.why}; ${reason.instead}` }
}

function refuse(code: Refusal["code"], option: string, what: string, reason: Reason): Refusal {
  return { code, option, message: `${what} ${reason.why}; ${reason.instead}` }
}
