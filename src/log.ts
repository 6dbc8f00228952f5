/** Tells an operator of something that went wrong and is dealt with: one JSON object a line. */
export function logError(event: string, facts: Record<string, unknown>): void {
  console.error(JSON.stringify({ event, ...facts }))
}
