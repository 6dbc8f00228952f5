import { startProcess } from "../process.ts"
import type { Jail } from "../sandbox/sandbox.ts"

const TIME_LIMIT_MS = 10_000

/** The version that a tool says it has, or "unavailable". */
export async function readVersion(tool: string, jail: Jail): Promise<string> {
  const end = await startProcess({
    tool,
    argv: ["-version"],
    jail,
    cwd: "/",
    access: "none",
    timeLimitMs: TIME_LIMIT_MS,
    stdoutBytesMax: 4096,
    signal: new AbortController().signal,
  }).finished
  return /^\S+ version (\S+)/.exec(end.stdout)?.[1] ?? "unavailable"
}
