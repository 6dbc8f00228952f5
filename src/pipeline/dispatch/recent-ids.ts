const IDS_MAX = 10_000

/** A set of ids that forgets those that were added longest ago. */
export function openRecentIds(idsMax = IDS_MAX) {
  const ids = new Set<string>()
  return {
    has: (id: string) => ids.has(id),
    add(id: string): void {
      ids.add(id)
      for (const oldest of ids) {
        if (ids.size <= idsMax) break
        ids.delete(oldest)
      }
    },
  }
}
