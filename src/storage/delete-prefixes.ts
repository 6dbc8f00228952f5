/** Objects of one page of a list, and of one deletion. */
const PAGE = { min: 16, max: 1000 }
/** Objects that a prefix has, as a rule, at most. */
const OBJECTS_OF_PREFIX = 4

/** Prefixes by the folder of an account that they lie in; one that lies in none is alone. */
export function groupByFolder(prefixes: readonly string[]): Map<string, string[]> {
  return Map.groupBy(prefixes, (prefix) => /^[^/]+\/[^/]+\/(?=[^/])/.exec(prefix)?.[0] ?? prefix)
}

/**
 * Removes every object below prefixes of one folder. A page of its list has objects of many of them
 * where they lie side by side, as those of jobs do that go by their age.
 */
export async function deletePrefixes(
  bucket: R2Bucket,
  folder: string,
  prefixes: readonly string[],
): Promise<void> {
  const due = new Set(prefixes)
  let left = [...due].toSorted()
  let limit = PAGE.max
  for (;;) {
    const [first] = left
    if (first === undefined) return
    limit = Math.min(limit, PAGE.min + OBJECTS_OF_PREFIX * left.length)
    const isAlone = first === folder
    const page = await bucket.list({
      prefix: folder,
      limit,
      ...(!isAlone && { startAfter: first }),
    })
    const keys = page.objects.map(({ key }) => key)
    const own = keys.filter((key) => isBelow(key, due))
    if (own.length > 0) await bucket.delete(own)
    const last = keys.at(-1)
    if (!page.truncated || last === undefined) return
    left = left.filter((prefix) => prefix > last || last.startsWith(prefix))
    // What is kept is read in vain, so that pages are small where there is much of it.
    const isSparse = own.length < keys.length / 4
    limit = isSparse ? Math.max(PAGE.min, Math.floor(limit / 4)) : Math.min(PAGE.max, limit * 4)
  }
}

/** Whether a key lies below one of some prefixes. */
function isBelow(key: string, prefixes: ReadonlySet<string>): boolean {
  for (let at = key.indexOf("/"); at !== -1; at = key.indexOf("/", at + 1)) {
    if (prefixes.has(key.slice(0, at + 1))) return true
  }
  return false
}
