/**
 * Maps items with at most `limit` of them under way at a time. Where one fails, the signal that
 * the others work under aborts, and its error is thrown once they have ended.
 */
export async function mapAtOnce<Item, Value>(
  items: readonly Item[],
  { limit, signal }: { limit: number; signal: AbortSignal },
  work: (item: Item, signal: AbortSignal) => Promise<Value>,
): Promise<Value[]> {
  const failure = new AbortController()
  const joint = AbortSignal.any([signal, failure.signal])
  const values: Value[] = []
  const waiting = items.entries()
  async function drain(): Promise<void> {
    try {
      for (const [index, item] of waiting) {
        joint.throwIfAborted()
        values[index] = await work(item, joint)
      }
    } catch (error) {
      failure.abort(error)
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, drain))
  joint.throwIfAborted()
  return values
}
