import { toolEnvironment } from "../local/environment.ts"
import { startProgram, untilReadyLine } from "../local/program.ts"
import { openCaller } from "./caller.ts"
import { junk } from "./junk.ts"
import { findWorkerd } from "./memory.ts"
import { PLAIN_PUT_READY, plainPutProgram } from "./plain-put.ts"
import type { BenchScope } from "./scope.ts"

/** Starts a Worker that puts bodies into R2, which what stores bytes is compared with. */
export async function openPlainPut(scope: BenchScope) {
  const environment = { ...toolEnvironment(), STATE_DIR: await scope.makeFolder() }
  const program = scope.use(startProgram({ words: [plainPutProgram], environment }))
  const line = await untilReadyLine(program, new RegExp(`^${PLAIN_PUT_READY}`))
  const caller = openCaller(line.slice(PLAIN_PUT_READY.length))
  scope.defer(() => caller.close())
  return {
    caller,
    workerdPid: findWorkerd(program.pid),
    pingPath: "/",
    /** Stores bytes and returns what removes them again. */
    async store(sizeBytes: number) {
      const path = `/${crypto.randomUUID()}`
      await caller.ask("PUT", path, { type: "application/octet-stream", ...junk(sizeBytes) })
      return async () => void (await caller.ask("DELETE", path))
    },
  }
}
