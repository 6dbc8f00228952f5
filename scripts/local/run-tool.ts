import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"

export type ToolRun = { isOk: boolean; output: string; seconds: number }

/** Runs one of the npm packages' programs to its end, with what it printed. */
export async function runTool(name: string, words: string[]): Promise<ToolRun> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [`node_modules/.bin/${name}`, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  })
  const printed = Promise.all([text(child.stdout), text(child.stderr)])
  await once(child, "close")
  const output = (await printed).join("").trim()
  return { isOk: child.exitCode === 0, output, seconds: (performance.now() - startedAt) / 1000 }
}
