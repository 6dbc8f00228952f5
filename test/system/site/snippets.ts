import { readFileSync } from "node:fs"

/** Example of a page in a language. */
export type Snippet = { language: string; code: string; line: number }

/** Reads the examples of a page in these languages. */
export function readSnippets(path: string, languages: readonly string[]): Snippet[] {
  const text = readFileSync(path, "utf8")
  return [...text.matchAll(/^( *)```(\w+)[^\n]*\n([\s\S]*?)^\1```$/gm)].flatMap(
    ({ 1: indent = "", 2: language = "", 3: indented = "", index }) => {
      if (!languages.includes(language)) return []
      const code = indented.replaceAll(new RegExp(`^${indent}`, "gm"), "")
      return [{ language, code, line: text.slice(0, index).split("\n").length + 1 }]
    },
  )
}

/**
 * Splits a shell script into its commands. A command ends with its line, unless a quote is open, or
 * the line ends with a backslash or begins a block.
 */
export function splitCommands(script: string): string[] {
  const commands: string[] = []
  let current = ""
  for (const line of script.split("\n")) {
    current += current === "" ? line : `\n${line}`
    if (isOpen(current)) continue
    if (current.trim() !== "" && !/^\s*#[^\n]*$/.test(current)) commands.push(current)
    current = ""
  }
  if (current.trim() !== "") throw new Error(`An example ends within a command: ${current}`)
  return commands
}

/** Reports whether a command goes on in the next line. */
function isOpen(text: string): boolean {
  let quote = ""
  let escaped = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (escaped) escaped = false
    else if (character === "\\" && quote !== "'") escaped = true
    else if (quote !== "") quote = character === quote ? "" : quote
    else if (character === "'" || character === '"') quote = character
    else if (character === "#" && /\s/.test(text[at - 1] ?? "\n")) {
      const end = text.indexOf("\n", at)
      return end !== -1 && isOpen(text.slice(0, at) + text.slice(end))
    }
  }
  const words = text.match(/^\s*(?:while|for|until|if|do|done|fi)\b/gm) ?? []
  const depth = words.reduce((sum, word) => {
    if (/\b(?:while|for|until|if)\b/.test(word)) return sum + 1
    return /\b(?:done|fi)\b/.test(word) ? sum - 1 : sum
  }, 0)
  const isClosedInLine = /;\s*(?:done|fi)\b/.test(text)
  return quote !== "" || escaped || (depth > 0 && !isClosedInLine)
}
