import { shown } from "./hint-table.ts"

const KEY = "expected a key of 1 to 64 letters, digits and underscores"

/** The expectation of a key, and the key that a name was likely meant as. */
export function describeKey(name: string): string {
  if (/^[\w -]+\.\w{2,4}$/.test(name)) {
    return `${KEY}; the key comes first and then the file, as in ${shown(asJson({ out_1: name }))}`
  }
  const key = name.replace(/[{}]|^\W+|\W+$/g, "").replace(/\W+/g, "_")
  return /^\w{1,64}$/.test(key) && key !== name ? `${KEY}; did you mean \`${key}\`?` : KEY
}

/** The map to write where `value` is a list, or a single item; keys begin with `prefix`. */
export function describeNoMap(value: unknown, prefix: string, what: string): string {
  const expected = `expected an object of keys and ${what}`
  const values = (Array.isArray(value) ? value : [value]).flatMap((each) => textOf(each) ?? [])
  if (values.length === 0) return expected
  const keyed = values.map((text, index) => [`${prefix}_${index + 1}`, text] as const)
  return `${expected}, as ${shown(asJson(Object.fromEntries(keyed)))}`
}

/** The one text of an item, in an object of a few fields the longest. */
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
