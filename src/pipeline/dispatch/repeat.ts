/**
 * Makes a function that does work, one at a time: a call during another returns at once and has that
 * one do its work again.
 */
export function openRepeater(): (work: () => Promise<void>) => Promise<void> {
  let isWorking = false
  let shallRepeat = false
  return async (work) => {
    shallRepeat = true
    if (isWorking) return
    isWorking = true
    try {
      while (shallRepeat) {
        shallRepeat = false
        await work()
      }
    } finally {
      isWorking = false
    }
  }
}

/** Repeaters by name, each opened when it is first asked for. */
export function openRepeaters(): (name: string) => ReturnType<typeof openRepeater> {
  const known = new Map<string, ReturnType<typeof openRepeater>>()
  return (name) => {
    const repeat = known.get(name) ?? openRepeater()
    known.set(name, repeat)
    return repeat
  }
}
