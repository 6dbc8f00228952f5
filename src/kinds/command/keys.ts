import { PLACEHOLDER, substitute } from "../../contract/tasks/command.ts"
import { didYouMean } from "../../suggest.ts"
import type { CommandFault } from "./fault-codes.ts"
import { REFUSALS_MAX } from "./policy/refusal.ts"
import type { Script } from "./script.ts"

/** What is wrong with the keys that commands name: unknown ones, and outputs that none names. */
export function judgeKeys(
  lines: readonly { field: string; words: string[] }[],
  { inputKeys, outputs, terms }: Script,
): CommandFault[] {
  const declared = new Set([...inputKeys, ...outputs.map(({ key }) => key)])
  const named = new Set<string>()
  const unknown = lines.flatMap(({ field, words }) => {
    const keys = namedKeys(words, declared)
    for (const key of keys.known) named.add(key)
    return [...keys.unknown].map((key) => ({ field, key }))
  })
  const unnamed = outputs.filter(({ key }) => !named.has(key))
  return [
    ...unknown.slice(0, REFUSALS_MAX).map(({ field, key }) => ({
      field,
      code: "unknown_key" as const,
      message: `"${key}" ${terms.isUnknown}${slipOf(key, declared)}`,
    })),
    ...unnamed.map(({ key, field }) => ({
      field,
      code: "unused_output" as const,
      message: `no command names this output; write {{${key}}} where its file goes`,
    })),
  ]
}

/** The key that was meant, where one is near; of another number it is another key. */
function slipOf(key: string, declared: ReadonlySet<string>): string {
  const digits = key.replace(/\D/g, "")
  const alike = [...declared].filter((each) => each.replace(/\D/g, "") === digits)
  return didYouMean(key, alike, (name) => `\`{{${name}}}\``)
}

/** The keys that a command names: those that the request declares, and those that it does not. */
export function namedKeys(words: readonly string[], declared: ReadonlySet<string>) {
  const known = new Set<string>()
  const unknown = new Set<string>()
  substitute(words, {
    get(key) {
      if (declared.has(key)) known.add(key)
      return undefined
    },
  })
  for (const word of words) {
    for (const [, key = ""] of word.matchAll(PLACEHOLDER)) if (!declared.has(key)) unknown.add(key)
  }
  for (const word of mediaWords(words)) {
    if (/^(?:in|out)_[A-Za-z0-9_]+$/.test(word) && !declared.has(word)) unknown.add(word)
  }
  return { known, unknown }
}

/** Words that can only be a file: what follows `-i`, and the last one. */
function mediaWords(words: readonly string[]): string[] {
  return words.filter((_, index) => words[index - 1] === "-i" || index === words.length - 1)
}
