/**
 * Has what comes in one round of the event loop dealt with together, so that an object waits for the disk
 * once for all of it. Each call fails where `work` does.
 */
export function gatherCalls<Item>(
  work: (items: Item[]) => Promise<void>,
): (item: Item) => Promise<void> {
  const gathered: Item[] = []
  let done: Promise<void> | null = null
  async function workTogether(): Promise<void> {
    await scheduler.wait(0)
    done = null
    await work(gathered.splice(0))
  }
  return async (item) => {
    gathered.push(item)
    done ??= workTogether()
    await done
  }
}
