/** Part of a file name pattern: literal text or a placeholder. */
export type NamePatternPart =
  | { kind: "text"; text: string }
  /** Placeholder for one character or more. */
  | { kind: "any" }
  /**
   * Placeholder for a number with leading zeros up to `width` digits, as printf formats it. A
   * longer number has no leading zero.
   */
  | { kind: "number"; width: number }
  | { kind: "digits" }
  | { kind: "percents" }

/**
 * Set of positions in a file name. A position is 1 if the pattern parts so far can match exactly
 * the characters before the position, else 0.
 */
type Positions = Uint8Array

/**
 * Reports whether the parts of a pattern match the whole file name. Each part takes one pass over
 * the name, so the time is bounded; a regular expression could backtrack for very long.
 */
export function matchesPatternParts(parts: readonly NamePatternPart[], name: string): boolean {
  const [first, last] = [parts.at(0), parts.at(-1)]
  if (first?.kind === "text" && !name.startsWith(first.text)) return false
  if (last?.kind === "text" && !name.endsWith(last.text)) return false
  let [from, to] = [new Uint8Array(name.length + 1), new Uint8Array(name.length + 1)]
  from[0] = 1
  for (const part of parts) {
    matchPart(part, name, from, to)
    if (!to.includes(1)) return false
    ;[from, to] = [to, from]
    to.fill(0)
  }
  return from[name.length] === 1
}

function matchPart(part: NamePatternPart, name: string, from: Positions, to: Positions): void {
  switch (part.kind) {
    case "text":
      return matchText(part.text, name, from, to)
    case "any":
      to.fill(1, from.indexOf(1) + 1)
      return
    case "number":
      return matchNumber(part.width, name, from, to)
    case "digits":
      return matchDigits(name, from, to)
    case "percents":
      matchText("%", name, from, to)
      return matchText("%%", name, from, to)
  }
}

function matchText(text: string, name: string, from: Positions, to: Positions): void {
  if (text === "") return to.set(from)
  let at = name.indexOf(text, from.indexOf(1))
  while (at !== -1) {
    if (from[at] === 1) to[at + text.length] = 1
    at = name.indexOf(text, at + 1)
  }
}

function matchDigits(name: string, from: Positions, to: Positions): void {
  let isOpen = false
  for (let at = 0; at < name.length; at += 1) {
    isOpen = isDigit(name, at) && (isOpen || from[at] === 1)
    if (isOpen) to[at + 1] = 1
  }
}

function matchNumber(width: number, name: string, from: Positions, to: Positions): void {
  let runStart = 0
  /**
   * Index of the first digit, within the current run of digits, at which a number without a leading
   * zero can begin; -1 if there is none. The earliest index gives the longest number.
   */
  let numberStart = -1
  for (let at = 0; at < name.length; at += 1) {
    if (!isDigit(name, at)) {
      runStart = at + 1
      numberStart = -1
      continue
    }
    if (numberStart === -1 && from[at] === 1 && name[at] !== "0") numberStart = at
    const padded = at + 1 - width
    const isPadded = padded >= runStart && from[padded] === 1
    if (isPadded || (numberStart !== -1 && numberStart < padded)) to[at + 1] = 1
  }
}

function isDigit(name: string, at: number): boolean {
  const code = name.charCodeAt(at)
  return code >= 48 && code <= 57
}
