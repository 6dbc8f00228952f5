import { makeTempFolder } from "../local/temp-folder.ts"

/** What one benchmark has opened; all of it is disposed of, last first, when the scope closes. */
export type BenchScope = {
  /** Aborted when the scope closes. */
  signal: AbortSignal
  /** A new empty folder; its path. */
  makeFolder(): Promise<string>
  /** Has something disposed of with the scope. */
  use<T extends AsyncDisposable>(resource: T): T
  /** Has something done when the scope closes. */
  defer(work: () => void | Promise<void>): void
  close(): Promise<void>
}

export function openBenchScope(): BenchScope {
  const opened = new AsyncDisposableStack()
  const closing = new AbortController()
  // A benchmark that ran out of time still goes on, and must leave nothing behind either.
  function use<T extends AsyncDisposable>(resource: T): T {
    if (!opened.disposed) return opened.use(resource)
    void resource[Symbol.asyncDispose]()
    throw new Error("the benchmark is over")
  }
  return {
    signal: closing.signal,
    use,
    async makeFolder() {
      return use(await makeTempFolder("bench")).path
    },
    defer: (work) => opened.defer(work),
    async close() {
      closing.abort()
      await opened.disposeAsync()
    },
  }
}
