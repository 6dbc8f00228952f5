import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { pickVariables } from "../local/environment.ts"
import { diesWithParent } from "../local/parent-death.ts"

/** No other variable reaches a program, so that every run measures the same. */
const PASSED_ON = ["PATH", "TMPDIR", "FFMPEG_PATH", "FFPROBE_PATH"]
const READY_MS_MAX = 60_000
const STOP_MS_MAX = 20_000
const TAIL_LINES = 20

/** A script that runs beside the benchmark. */
export type Program = {
  pid: number
  /** Resolves with the line that says that it serves; rejects where it ends before. */
  ready: Promise<string>
  /** Calls back with each line of its stdout from now on. */
  onLine(listener: (line: string) => void): void
  /** Ends it in order and resolves when it is gone. */
  stop(): Promise<void>
}

/** Starts `node SCRIPT`, which is ready when it prints a line that fits. */
export function startProgram(
  script: string,
  readyLine: RegExp,
  variables: Record<string, string>,
): Program {
  const [tool, ...words] = diesWithParent([process.execPath, script])
  const child = spawn(tool, words, {
    env: { ...pickVariables(process.env, PASSED_ON), ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const tail: string[] = []
  const lines = createInterface({ input: child.stdout })
  for (const reader of [lines, createInterface({ input: child.stderr })]) {
    reader.on("line", (line) => {
      tail.push(line)
      if (tail.length > TAIL_LINES) tail.shift()
    })
  }
  const ended = once(child, "exit")
  async function failAtEnd(): Promise<never> {
    const why = await Promise.race([ended, sleep(READY_MS_MAX, "too slow", { ref: false })])
    throw new Error(`${script} did not become ready (${String(why)}):\n${tail.join("\n")}`)
  }
  const said = new Promise<string>((resolve) => {
    lines.on("line", (line) => readyLine.test(line) && resolve(line))
  })
  return {
    pid: child.pid ?? 0,
    ready: Promise.race([said, failAtEnd()]),
    onLine: (listener) => void lines.on("line", listener),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill("SIGTERM")
      const killing = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX)
      await ended
      clearTimeout(killing)
    },
  }
}
