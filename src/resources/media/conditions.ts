const TAG = /(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g

/** The version of an object as R2 has it. */
type Version = Pick<R2Object, "httpEtag" | "uploaded">

/**
 * Judges the conditions of a GET or HEAD in the order of RFC 9110, 13.2.2: `unchanged` is a 304, and
 * `failed` a 412. A tag without double quotes names no version, and a date that is none is ignored.
 */
export function judgeConditions(asked: Headers, version: Version): "hold" | "unchanged" | "failed" {
  const match = asked.get("if-match")
  const isWanted =
    match === null
      ? !isLater(version, asked.get("if-unmodified-since"))
      : namesVersion(match, version, "strong")
  if (!isWanted) return "failed"
  const noneMatch = asked.get("if-none-match")
  const since = asked.get("if-modified-since")
  const isKnown =
    noneMatch === null
      ? readDate(since) !== null && !isLater(version, since)
      : namesVersion(noneMatch, version, "weak")
  return isKnown ? "unchanged" : "hold"
}

/** Whether a list of entity tags can name a version at all. */
export function hasEntityTags(list: string): boolean {
  return list.trim() === "*" || list.search(TAG) !== -1
}

function namesVersion(list: string, { httpEtag }: Version, comparison: "strong" | "weak"): boolean {
  if (list.trim() === "*") return true
  const tags = list.matchAll(TAG)
  return tags.some(([, weak, tag]) => tag === httpEtag && (comparison === "weak" || !weak))
}

/** Whether an object is newer than a date of a header; false where the header has no date. */
function isLater({ uploaded }: Version, header: string | null): boolean {
  const date = readDate(header)
  return date !== null && Math.floor(uploaded.getTime() / 1000) * 1000 > date
}

function readDate(header: string | null): number | null {
  const date = Date.parse(header ?? "")
  return Number.isNaN(date) ? null : date
}
