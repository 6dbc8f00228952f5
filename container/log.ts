type LogFields = Record<string, string | number | boolean | null | undefined>

/** Writes one line of JSON to stdout. Fields must hold no tokens and no URLs. */
export function log(event: string, fields: LogFields = {}): void {
  const line = { event, at: new Date().toISOString(), ...fields }
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
