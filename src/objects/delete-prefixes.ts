/**
 * Minimum and maximum number of objects that one call of R2 lists, and another call then deletes.
 */
const PAGE = { min: 16, max: 1000 }
/** Estimated number of objects below one prefix, from which the size of a list page is chosen. */
const OBJECTS_OF_PREFIX = 4

/**
 * Groups prefixes by the account folder that contains them. A prefix outside an account folder
 * forms its own group.
 */
export function groupPrefixesByFolder(prefixes: readonly string[]): Map<string, string[]> {
  return Map.groupBy(prefixes, (prefix) => /^[^/]+\/[^/]+\/(?=[^/])/.exec(prefix)?.[0] ?? prefix)
}

/**
 * Deletes every object below prefixes of one account folder. Keys of jobs sort by age, so that one
 * page of R2's list covers the prefixes of many jobs.
 */
export async function deleteObjectsBelowFolderPrefixes(
  bucket: R2Bucket,
  folder: string,
  prefixes: readonly string[],
): Promise<void> {
  const due = new Set(prefixes)
  let remaining = [...due].toSorted()
  let limit = PAGE.max
  for (;;) {
    const [first] = remaining
    if (first === undefined) return
    limit = Math.min(limit, PAGE.min + OBJECTS_OF_PREFIX * remaining.length)
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
    remaining = remaining.filter((prefix) => prefix > last || last.startsWith(prefix))
    // Shrinks the next page if few of the listed objects are to be deleted.
    const isSparse = own.length < keys.length / 4
    limit = isSparse ? Math.max(PAGE.min, Math.floor(limit / 4)) : Math.min(PAGE.max, limit * 4)
  }
}

/** Reports whether an R2 key lies in the folder of one of the prefixes. */
function isBelow(key: string, prefixes: ReadonlySet<string>): boolean {
  for (let at = key.indexOf("/"); at !== -1; at = key.indexOf("/", at + 1)) {
    if (prefixes.has(key.slice(0, at + 1))) return true
  }
  return false
}
