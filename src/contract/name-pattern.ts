/** A part of a pattern: text as it is, or what stands for more than one text. */
export type PatternPart =
  | { kind: "text"; text: string }
  /** One character or more. */
  | { kind: "any" }
  /** A number as printf writes it: one that is longer than its width has no zero before it. */
  | { kind: "number"; width: number }
  | { kind: "digits" }
  | { kind: "percents" }

/** Places of a name up to which the parts so far fit, by index; 1 is yes. */
type Reached = Uint8Array

/**
 * Whether the parts make up the whole name. Each part is one walk along the name, whatever the name
 * is: nothing is tried twice, as a regular expression would.
 */
export function fitsParts(parts: readonly PatternPart[], name: string): boolean {
  const [first, last] = [parts.at(0), parts.at(-1)]
  if (first?.kind === "text" && !name.startsWith(first.text)) return false
  if (last?.kind === "text" && !name.endsWith(last.text)) return false
  let [from, to] = [new Uint8Array(name.length + 1), new Uint8Array(name.length + 1)]
  from[0] = 1
  for (const part of parts) {
    walk(part, name, from, to)
    if (!to.includes(1)) return false
    ;[from, to] = [to, from]
    to.fill(0)
  }
  return from[name.length] === 1
}

function walk(part: PatternPart, name: string, from: Reached, to: Reached): void {
  switch (part.kind) {
    case "text":
      return walkText(part.text, name, from, to)
    case "any":
      to.fill(1, from.indexOf(1) + 1)
      return
    case "number":
      return walkNumber(part.width, name, from, to)
    case "digits":
      return walkDigits(name, from, to)
    case "percents":
      walkText("%", name, from, to)
      return walkText("%%", name, from, to)
  }
}

function walkText(text: string, name: string, from: Reached, to: Reached): void {
  if (text === "") return to.set(from)
  let at = name.indexOf(text, from.indexOf(1))
  while (at !== -1) {
    if (from[at] === 1) to[at + text.length] = 1
    at = name.indexOf(text, at + 1)
  }
}

function walkDigits(name: string, from: Reached, to: Reached): void {
  let isOpen = false
  for (let at = 0; at < name.length; at += 1) {
    isOpen = isDigit(name, at) && (isOpen || from[at] === 1)
    if (isOpen) to[at + 1] = 1
  }
}

function walkNumber(width: number, name: string, from: Reached, to: Reached): void {
  let runStart = 0
  /** Where the longest number without a zero before it begins in this run of digits. */
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
