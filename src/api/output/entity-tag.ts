const TAG = /(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g

/**
 * Reports whether the value of an `If-Match` header is well-formed: `*`, or at least one quoted
 * tag.
 */
export function isEntityTagList(list: string): boolean {
  return list.trim() === "*" || list.search(TAG) !== -1
}

/**
 * Reports whether the value of `If-Match` or `If-None-Match` is `*` or contains the given entity
 * tag.
 */
export function includesEntityTag(
  list: string,
  etag: string,
  comparison: "strong" | "weak",
): boolean {
  if (list.trim() === "*") return true
  const tags = list.matchAll(TAG)
  return tags.some(([, weak, tag]) => tag === etag && (comparison === "weak" || !weak))
}
