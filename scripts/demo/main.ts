import { commandDemo } from "./command/demo.ts"
import type { Demo } from "./demo.ts"
import { lectureDemo } from "./lecture/demo.ts"
import { findDemoPaths } from "./paths.ts"
import type { DemoPaths } from "./paths.ts"
import { speechDemo } from "./speech/demo.ts"
import { runScript } from "../cli/cli-error.ts"
import { startServiceProcess } from "../cli/service-process.ts"
import { makeStopSignal } from "../cli/stop-signal.ts"
import { makeTempFolder } from "../cli/temp-folder.ts"
import { ensureSetUp } from "../setup/main.ts"

const EXIT_CODE_STOPPED = 130

await runScript(async () => {
  const { demo, words } = chooseDemo(process.argv.slice(2))
  const paths = findDemoPaths(demo, words, process.env["INIT_CWD"] ?? process.cwd())
  await ensureSetUp()
  const stop = makeStopSignal()
  try {
    await show(demo, paths, stop)
  } catch (error) {
    if (!stop.aborted) throw error
    process.exitCode = EXIT_CODE_STOPPED
  }
})
process.exit()

function chooseDemo(words: string[]): { demo: Demo; words: string[] } {
  const [name, ...rest] = words
  const demo = [speechDemo, lectureDemo].find((each) => each.name === name)
  return demo ? { demo, words: rest } : { demo: commandDemo, words }
}

async function show(demo: Demo, paths: DemoPaths, signal: AbortSignal): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await makeTempFolder("demo")).path
  const service = stack.use(await startServiceProcess({ signal }))
  console.log(`Service   ${service.origin}, on a temporary state folder`)
  const api = { base: `${service.origin}/v1`, key: await service.makeKey("demo"), signal }
  await demo.show({ api, paths, folder })
}
