import { mkdtempSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startProgram } from "./program.ts"
import type { Program } from "./program.ts"

/** Where one benchmark works: a folder and programs of its own, all gone once it is closed. */
export type Lab = {
  /** A new empty folder. */
  makeFolder(): string
  /** Starts a script of the project with these variables; see `startProgram`. */
  start(script: string, readyLine: RegExp, variables: Record<string, string>): Promise<Program>
  /** Has something done when the lab is closed, before what was opened earlier is closed. */
  defer(work: () => void | Promise<void>): void
  close(): Promise<void>
}

export function openLab(): Lab {
  const opened = new AsyncDisposableStack()
  let closing: Promise<void> | null = null
  // A benchmark that took too long still goes on, and must leave nothing behind either.
  function requireOpen(): void {
    if (opened.disposed) throw new Error("the lab is closed")
  }
  return {
    makeFolder() {
      requireOpen()
      const path = mkdtempSync(join(tmpdir(), "lathe-bench-"))
      opened.defer(() => rm(path, { recursive: true, force: true, maxRetries: 3 }))
      return path
    },
    async start(script, readyLine, variables) {
      requireOpen()
      const program = startProgram(script, readyLine, variables)
      opened.defer(() => program.stop())
      await program.ready
      return program
    },
    defer: (work) => opened.defer(work),
    close() {
      closing ??= opened.disposeAsync()
      return closing
    },
  }
}
