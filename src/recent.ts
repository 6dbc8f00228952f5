/** What is known of names for a while; the latest `max` of them. */
export type Recent<Value> = {
  /** Null of a name of which nothing is known any more. */
  get(name: string): Value | null
  /** Knows it until a moment, in milliseconds since the epoch. */
  set(name: string, value: Value, until: number): void
  delete(name: string): void
}

/** Remembers so many names that what is remembered stays small, whoever sends them. */
export function remember<Value>(max: number): Recent<Value> {
  const known = new Map<string, { value: Value; until: number }>()
  return {
    get(name) {
      const found = known.get(name)
      if (!found) return null
      if (found.until > Date.now()) return found.value
      known.delete(name)
      return null
    },
    set(name, value, until) {
      // A map has its names in the order in which they came.
      known.delete(name)
      known.set(name, { value, until })
      const [oldest] = known.size > max ? known.keys() : []
      if (oldest !== undefined) known.delete(oldest)
    },
    delete: (name) => void known.delete(name),
  }
}
