import { tmpdir } from "node:os"
import { startProcess } from "../process.ts"

const TIME_LIMIT_MS = 10_000

/** The version that a tool says it has, or "unavailable". */
export async function readVersion(tool: string): Promise<string> {
  const end = await startProcess({
    tool,
    argv: ["-version"],
    cwd: tmpdir(),
    timeLimitMs: TIME_LIMIT_MS,
    stdoutBytesMax: 4096,
    signal: new AbortController().signal,
  }).finished
  return /^\S+ version (\S+)/.exec(end.stdout)?.[1] ?? "unavailable"
}
