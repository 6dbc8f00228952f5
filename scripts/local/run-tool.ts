import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"

/** Runs one of the npm packages' programs to its end and returns what it printed. */
export async function runTool(
  name: string,
  words: string[],
): Promise<{ isOk: boolean; output: string }> {
  const child = spawn(process.execPath, [`node_modules/.bin/${name}`, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  })
  const printed = Promise.all([text(child.stdout), text(child.stderr)])
  await once(child, "close")
  return { isOk: child.exitCode === 0, output: (await printed).join("").trim() }
}
