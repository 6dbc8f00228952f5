type Facts = Record<string, string | number | boolean | null | undefined>

/** Writes one line of JSON to stdout. Facts hold no tokens and no URLs. */
export function log(event: string, facts: Facts = {}): void {
  const line = { event, at: new Date().toISOString(), ...facts }
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
