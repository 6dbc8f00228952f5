import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, readdir } from "node:fs/promises"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { expect } from "vitest"
import { pickEnvironmentVariables } from "../../../scripts/cli/environment.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

const PASSED_ON = ["PATH", "HOME", "FFMPEG_PATH", "FFPROBE_PATH"]

/** A folder to call the demo from, with a folder for temporary files of its own. */
export type DemoStage = Awaited<ReturnType<typeof openDemoStage>>

export async function openDemoStage() {
  const opened = await makeTempFolder("demo-test")
  const folder = opened.path
  const temp = join(folder, "tmp")
  await mkdir(temp)
  /** Starts the demo; `settings` are variables of its environment. */
  function start(words: string[], settings: Record<string, string> = {}) {
    const environment = pickEnvironmentVariables(process.env, PASSED_ON)
    return spawn(process.execPath, ["scripts/demo/main.ts", ...words], {
      env: { ...environment, TMPDIR: temp, INIT_CWD: folder, ...settings },
      stdio: ["ignore", "pipe", "pipe"],
    })
  }
  return {
    folder,
    start,
    /** Runs the demo to its end. */
    async demo(words: string[] = [], settings: Record<string, string> = {}) {
      const child = start(words, settings)
      const closed = once(child, "close")
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
      await closed
      return { exitCode: child.exitCode, stdout, stderr }
    },
    /** Temporary files that the demo left. */
    leftovers: async () => await readdir(temp),
    [Symbol.asyncDispose]: async () => await opened[Symbol.asyncDispose](),
  }
}

/** Expects that the service that a demo named no longer answers. */
export async function expectGone(stdout: string): Promise<void> {
  const origin = /^Service +(http:\/\/[\d.:]+)/m.exec(stdout)?.[1]
  expect(origin).toBeDefined()
  await expect(fetch(`${origin}/v1/health`)).rejects.toThrow("fetch failed")
}
