import { makeTempFolder } from "../cli/temp-folder.ts"

/** Resources of a benchmark; closing the scope disposes of them in reverse order. */
export type BenchScope = {
  /** Aborted when the scope closes. */
  signal: AbortSignal
  /** Creates an empty folder that is removed with the scope. Returns its path. */
  makeFolder(): Promise<string>
  /** Registers a resource that is disposed of when the scope closes. */
  use<T extends AsyncDisposable>(resource: T): T
  /** Registers work that runs when the scope closes. */
  defer(work: () => void | Promise<void>): void
  close(): Promise<void>
}

export function openBenchScope(): BenchScope {
  const opened = new AsyncDisposableStack()
  const closing = new AbortController()
  // Disposes of the resource at once if the scope is closed: a benchmark that exceeded its time
  // limit still runs, and must leave nothing behind.
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
