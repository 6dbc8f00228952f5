import { parseTime } from "../../../contract/media-time.ts"
import { nearestName } from "../../../suggest.ts"
import { evaluate, readExpression, readNumber } from "./evaluate.ts"
import type { Known, KnownOption } from "./known.ts"

/** Sizes that ffmpeg has names of. */
const SIZES =
  "ntsc pal qntsc qpal sntsc spal film ntsc-film sqcif qcif cif 4cif 16cif qqvga qvga vga svga xga uxga qxga sxga qsxga hsxga wvga wxga wsxga wuxga woxga wqsxga wquxga whsxga whuxga cga ega hd480 hd720 hd1080 quadhd 2k 2kdci 2kflat 2kscope 4k 4kdci 4kflat 4kscope nhd hqvga wqvga fwqvga hvga qhd uhd2160 uhd4320 none"
const RATES = "ntsc pal qntsc qpal sntsc spal film ntsc-film"
const BOOLEANS = "true y yes enable enabled on false n no disable disabled off auto"
/** What every number may be called. */
const NUMBER_NAMES = ["default", "max", "min", "none", "all"]

/** Why an option cannot have a value, as what was expected of it; null where it may well. */
export function expectedInstead(option: KnownOption, value: string, known: Known): string | null {
  // What has a backslash or a quote left is not what ffmpeg would see.
  if (/[\\'"]/.test(value)) return null
  switch (option.type) {
    case "b":
      return expectedBoolean(value, option)
    case "i":
    case "f":
      return expectedNumber(value, option)
    case "r":
      return /^-?\d+[:/]-?\d+$/.test(value) ? null : expectedNumber(value, option)
    case "g":
      return (
        flagsOf(value)
          .values()
          .map((flag) => expectedNumber(flag, option))
          .find(Boolean) ?? null
      )
    case "v":
      return expectedRate(value)
    case "z":
      // Of tiles it is how many stand beside and above each other.
      return option.names.includes("layout")
        ? expectedSize(value, "columns and rows, as 3x2")
        : expectedSize(value)
    case "c":
      return expectedColor(value, known)
    case "t":
      return expectedTime(value)
    case "p":
      return expectedPixelFormat(value, known)
    case "a":
      return expectedOf(value, known.names("sampleFormats"), "a sample format")
    case "l":
      return expectedLayout(value, known)
    default:
      return null
  }
}

/** What was expected in the place of a pixel format, as `-pix_fmt` takes it; null where it may be one. */
export function expectedPixelFormat(value: string, known: Known): string | null {
  const names = known.names("pixelFormats")
  const plain = value.replace(/^\+/, "")
  if (!/^[a-z]\w*$/i.test(plain) || /^(?:none|list|same)$/.test(plain)) return null
  if (names.has(plain) || names.has(`${plain}le`) || names.has(`${plain}be`)) return null
  // Names that stand for one of two orders of bytes.
  if (/^(?:rgb|bgr|0rgb|0bgr|abgr|argb)\d+_?\d?$|^(?:rgb|bgr)32(?:_1)?$/i.test(plain)) return null
  const meant = nearestName(plain, names)
  return `expected a pixel format${meant === null ? ", as yuv420p" : `; did you mean \`${meant}\`?`}`
}

function expectedBoolean(value: string, { constants }: KnownOption): string | null {
  if (constants.includes(value) || /^(?:-1|0|1)$/.test(value)) return null
  if (BOOLEANS.split(" ").includes(value.toLowerCase())) return null
  return /^[\w.-]+$/.test(value) ? "expected 1 or 0" : null
}

function expectedNumber(value: string, option: KnownOption): string | null {
  const { constants, least, most } = option
  if (constants.includes(value)) return null
  const read = readExpression(value, { variables: [...constants, ...NUMBER_NAMES] })
  if (read === null) return null
  if ("kind" in read) {
    const number = evaluate(read, {})
    return number !== null && (number < least || number > most) ? expectedRange(option) : null
  }
  if (/^\d/.test(value)) return "expected a number without a unit, or with k, M or G, as 1.5M"
  if (constants.length === 0) return "expected a number"
  const meant = nearestName(value, constants)
  if (meant !== null) return `did you mean \`${meant}\`?`
  return `expected ${listOf(constants)}${least === -Infinity ? "" : ", or a number"}`
}

function flagsOf(value: string): string[] {
  return value.split(/[+|-]/).filter((flag) => flag !== "")
}

function expectedRange({ least, most }: KnownOption): string {
  if (most === Infinity) return `expected ${least} or more`
  return least === -Infinity ? `expected ${most} or less` : `expected ${least} to ${most}`
}

function expectedRate(value: string): string | null {
  return RATES.split(" ").includes(value) || isRatio(value)
    ? null
    : "expected frames a second, as 25 or 30000/1001"
}

/** Whether a text is a ratio above 0, as `16:9`, `16/9` or `1.78`. */
export function isRatio(value: string): boolean {
  const parts = /^\s*(-?\d+)\s*:\s*(-?\d+)$/.exec(value)
  if (parts) return Number(parts[1]) > 0 && Number(parts[2]) > 0
  const read = readExpression(value, { variables: [] })
  if (read === null || !("kind" in read)) return read === null
  const number = evaluate(read, {})
  return number === null || (number > 0 && number < Infinity)
}

/** What was expected in the place of a size; null where it is one. */
export function expectedSize(value: string, form = "a size, as 1280x720"): string | null {
  const sides = /^\s*(\d+)\D(\d+)$/.exec(value)
  if (SIZES.split(" ").includes(value)) return null
  return Number(sides?.[1]) > 0 && Number(sides?.[2]) > 0 ? null : `expected ${form}`
}

function expectedColor(value: string, known: Known): string | null {
  const [name = "", alpha] = value.split("@")
  const hex = /^(?:#|0x)?([\da-f]+)$/i.exec(name)?.[1]
  const colors = known.names("colors")
  if (colors.has(name.toLowerCase()) || /^(?:random|bikeshed)$/i.test(name)) {
    const opacity = alpha === undefined ? null : readNumber(alpha)
    return opacity !== null && (opacity < 0 || (opacity > 1 && !alpha?.startsWith("0x")))
      ? "expected an opacity of 0 to 1 behind @"
      : null
  }
  if (hex !== undefined) {
    return hex.length === 6 || hex.length === 8
      ? null
      : "expected 6 or 8 hexadecimal digits, as 0xFF8800"
  }
  const meant = nearestName(name, colors)
  return `expected a color${meant === null ? ", as red or 0xFF8800" : `; did you mean \`${meant}\`?`}`
}

/** What was expected in the place of a time; null where it may be one. */
export function expectedTime(value: string): string | null {
  const plain = value.replace(/^-/, "")
  const isClock = !/:[6-9]\d/.test(plain) && !/^[6-9]\d:\d+(?:\.\d*)?$/.test(plain)
  if (isClock && parseTime(plain) !== null) return null
  return /^\s|:[^:\n]*[mu]s$/.test(value) ? null : "expected a time, as 90, 1.5, 500ms or 00:01:30"
}

function expectedLayout(value: string, known: Known): string | null {
  if (!/^[a-z]+$/.test(value)) return null
  return expectedOf(value, known.names("layouts"), "a layout of channels, as stereo or 5.1")
}

function expectedOf(value: string, names: ReadonlySet<string>, what: string): string | null {
  if (!/^[a-z]\w*$/i.test(value) || names.has(value) || value === "none") return null
  const meant = nearestName(value, names)
  return `expected ${what}${meant === null ? "" : `; did you mean \`${meant}\`?`}`
}

/** The first of some names, as a sentence lists them. */
export function listOf(names: readonly string[]): string {
  const shown = names.slice(0, LISTED_MAX).map((name) => `\`${name}\``)
  if (names.length > LISTED_MAX) return `${shown.join(", ")} or others`
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`
}

const LISTED_MAX = 12
