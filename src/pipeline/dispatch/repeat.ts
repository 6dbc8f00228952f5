/**
 * Makes a function that does work, one at a time: a call during another returns at once and has that
 * one do the work again.
 */
export function repeatWhileCalled<Subject>(
  work: (subject: Subject) => Promise<void>,
): (subject: Subject) => Promise<void> {
  let isWorking = false
  let shallRepeat = false
  return async (subject) => {
    shallRepeat = true
    if (isWorking) return
    isWorking = true
    try {
      while (shallRepeat) {
        shallRepeat = false
        await work(subject)
      }
    } finally {
      isWorking = false
    }
  }
}
