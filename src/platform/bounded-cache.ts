/** Cache of values by name, each with an expiry time. */
export type BoundedCache<Value> = {
  /** Returns the value of a name. Returns null if the name has no value or an expired value. */
  get(name: string): Value | null
  /** Stores a value until a time in milliseconds since the epoch. */
  set(name: string, value: Value, until: number): void
  delete(name: string): void
}

/**
 * Creates a cache of at most `max` values. A full cache drops its oldest value, so that callers who
 * choose the names cannot exhaust the memory.
 */
export function makeBoundedCache<Value>(max: number): BoundedCache<Value> {
  const entries = new Map<string, { value: Value; until: number }>()
  return {
    get(name) {
      const entry = entries.get(name)
      if (!entry) return null
      if (entry.until > Date.now()) return entry.value
      entries.delete(name)
      return null
    },
    set(name, value, until) {
      // Deletes the name first, so that it moves to the end: a map iterates in the order of
      // insertion, and the first name is dropped.
      entries.delete(name)
      entries.set(name, { value, until })
      const [oldest] = entries.size > max ? entries.keys() : []
      if (oldest !== undefined) entries.delete(oldest)
    },
    delete: (name) => void entries.delete(name),
  }
}
