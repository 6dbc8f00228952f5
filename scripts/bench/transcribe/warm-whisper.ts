import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { SPEECH_PYTHON_PATH } from "../../setup/speech.ts"

const PROGRAM = join(import.meta.dirname, "warm-whisper.py")

/** A Python process that has a model in memory. */
export type WarmWhisper = AsyncDisposable & {
  /** The words of a file. */
  transcribe(path: string, language: string): Promise<string>
}

export async function openWarmWhisper(model: string): Promise<WarmWhisper> {
  const child = spawn(SPEECH_PYTHON_PATH, [PROGRAM, model], { stdio: ["pipe", "pipe", "inherit"] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  async function next(): Promise<string> {
    const { value, done } = await lines.next()
    if (done) throw new Error("faster-whisper ended")
    return String(JSON.parse(String(value)))
  }
  await next()
  return {
    async transcribe(path, language) {
      child.stdin.write(`${JSON.stringify({ path, language })}\n`)
      return await next()
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, "exit")
      child.kill("SIGKILL")
      await exited
    },
  }
}
