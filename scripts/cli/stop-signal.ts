/**
 * Returns a signal that is aborted at the first SIGINT, SIGTERM or SIGHUP. Later signals have no
 * effect.
 */
export function makeStopSignal(reason?: Error): AbortSignal {
  const controller = new AbortController()
  // Keeps the handlers after the first signal, because each Ctrl-C sends two signals: the terminal
  // and npm send one each.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => controller.abort(reason))
  }
  return controller.signal
}
