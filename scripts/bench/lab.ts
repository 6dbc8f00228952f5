import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startProgram } from "./program.ts"
import type { Program } from "./program.ts"

/** Where one benchmark works: a folder and programs of its own, all gone once it is closed. */
export type Lab = {
  /** A new empty folder. */
  makeFolder(): Promise<string>
  /** Starts a script of the project with these variables; see `startProgram`. */
  start(script: string, readyLine: RegExp, variables: Record<string, string>): Promise<Program>
  /** Has something done when the lab is closed, before what was opened earlier is closed. */
  defer(work: () => void): void
  close(): Promise<void>
}

export function openLab(): Lab {
  const opened = new AsyncDisposableStack()
  return {
    async makeFolder() {
      const path = await mkdtemp(join(tmpdir(), "lathe-bench-"))
      opened.defer(() => rm(path, { recursive: true, force: true, maxRetries: 3 }))
      return path
    },
    async start(script, readyLine, variables) {
      const program = startProgram(script, readyLine, variables)
      opened.defer(() => program.stop())
      await program.ready
      return program
    },
    defer: (work) => opened.defer(work),
    close: () => opened.disposeAsync(),
  }
}
