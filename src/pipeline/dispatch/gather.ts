/** Deals with some items together, by what each call says does so. */
export type Gathering<Item> = (
  item: Item,
  work: (items: readonly Item[]) => Promise<void>,
) => Promise<void>

/**
 * Has what comes in one round of the event loop dealt with together, by the first one's work, so that an
 * object waits for the disk once for all of it. Each call fails where that does.
 */
export function openGathering<Item>(): Gathering<Item> {
  const gathered: Item[] = []
  let done: Promise<void> | null = null
  return async (item, work) => {
    gathered.push(item)
    done ??= scheduler.wait(0).then(async () => {
      done = null
      await work(gathered.splice(0))
    })
    await done
  }
}
