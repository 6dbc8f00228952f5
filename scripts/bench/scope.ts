import { makeTempFolder } from "../cli/temp-folder.ts"

/** Resources of a benchmark, which are disposed of in reverse order when the scope closes. */
export type BenchResources = {
  /** Signal that is aborted when the scope closes. */
  signal: AbortSignal
  /**
   * Creates an empty folder that is removed when the scope closes. Returns the path of the folder.
   */
  makeFolder(): Promise<string>
  /** Registers a resource that is disposed of when the scope closes. */
  use<T extends AsyncDisposable>(resource: T): T
  /** Registers a function that is called when the scope closes. */
  defer(work: () => void | Promise<void>): void
  close(): Promise<void>
}

export function createBenchResources(): BenchResources {
  const opened = new AsyncDisposableStack()
  const closing = new AbortController()
  // Disposes of the resource at once if the scope is closed. The code of a benchmark that exceeded
  // its time limit still runs then, and must leave no process or folder behind.
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
