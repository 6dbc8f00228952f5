import { commandDemo } from "./demo/command/demo.ts"
import type { Demo } from "./demo/demo.ts"
import { findPaths } from "./demo/paths.ts"
import type { DemoPaths } from "./demo/paths.ts"
import { speechDemo } from "./demo/speech/demo.ts"
import { runScript } from "./local/cli-error.ts"
import { startServiceProcess } from "./local/service-process.ts"
import { stopSignal } from "./local/stop-signal.ts"
import { makeTempFolder } from "./local/temp-folder.ts"
import { ensureSetUp } from "./setup.ts"

const EXIT_CODE_STOPPED = 130

await runScript(async () => {
  const { demo, words } = chooseDemo(process.argv.slice(2))
  const paths = findPaths(demo, words, process.env["INIT_CWD"] ?? process.cwd())
  await ensureSetUp()
  const asked = stopSignal()
  try {
    await show(demo, paths, asked)
  } catch (error) {
    if (!asked.aborted) throw error
    process.exitCode = EXIT_CODE_STOPPED
  }
})
process.exit()

function chooseDemo(words: string[]): { demo: Demo; words: string[] } {
  const [name, ...rest] = words
  return name === speechDemo.name ? { demo: speechDemo, words: rest } : { demo: commandDemo, words }
}

async function show(demo: Demo, paths: DemoPaths, signal: AbortSignal): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await makeTempFolder("demo")).path
  const service = stack.use(await startServiceProcess({ signal }))
  console.log(`Service   ${service.origin}, on a state folder that goes when it ends`)
  const api = { base: `${service.origin}/v1`, key: await service.makeKey("demo"), signal }
  await demo.show({ api, paths, folder })
}
