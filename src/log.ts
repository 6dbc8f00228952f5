/** Tells an operator of something that went wrong and is dealt with: one JSON object a line. */
export function logError(event: string, facts: Record<string, unknown>): void {
  console.error(JSON.stringify({ event, ...facts }))
}

/**
 * Does one of several pieces of work, of which none may hold up the others: where it throws, that
 * is logged. Answers whether it was done.
 */
export async function doOrLog(
  event: string,
  facts: Record<string, unknown>,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    logError(event, { ...facts, error: String(error) })
    return false
  }
}
