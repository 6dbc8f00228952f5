import { quoteForMessage } from "./hint-table.ts"

const KEY = "expected a key of 1 to 64 letters, digits and underscores"

/**
 * Returns the error message for an invalid file key: the expected form, and the key that the caller
 * most likely meant.
 */
export function describeFileKeyFault(name: string): string {
  if (/^[\w -]+\.\w{2,4}$/.test(name)) {
    return `${KEY}; write the key first and the file name second, as in ${quoteForMessage(asJson({ out_1: name }))}`
  }
  const key = name.replace(/[{}]|^\W+|\W+$/g, "").replace(/\W+/g, "_")
  return /^\w{1,64}$/.test(key) && key !== name ? `${KEY}; did you mean \`${key}\`?` : KEY
}

/**
 * Returns the error message for a list, or a single item, in a field that expects an object of
 * keys. The message shows the caller's values with example keys, which begin with `prefix`. `what`
 * names the values.
 */
export function describeExpectedKeyMap(value: unknown, prefix: string, what: string): string {
  const expected = `expected an object of keys and ${what}`
  const values = (Array.isArray(value) ? value : [value]).flatMap((each) => textOf(each) ?? [])
  if (values.length === 0) return expected
  const keyed = values.map((text, index) => [`${prefix}_${index + 1}`, text] as const)
  return `${expected}, such as ${quoteForMessage(asJson(Object.fromEntries(keyed)))}`
}

/**
 * Returns the text of a list item: the item if the item is a string, or the longest string in an
 * object; null without a text.
 */
function textOf(item: unknown): string | null {
  if (typeof item === "string") return item === "" ? null : item
  if (typeof item !== "object" || item === null) return null
  const texts = Object.values(item).flatMap((each: unknown) =>
    typeof each === "string" && each !== "" ? [each] : [],
  )
  return texts.toSorted((one, other) => other.length - one.length)[0] ?? null
}

function asJson(map: object): string {
  return JSON.stringify(map).replaceAll('":"', '": "').replaceAll('","', '", "')
}
