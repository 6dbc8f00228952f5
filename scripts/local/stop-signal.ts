/** Aborted when this process is first asked to end; later requests change nothing. */
export function stopSignal(reason?: Error): AbortSignal {
  const controller = new AbortController()
  // npm passes on a Ctrl-C that the terminal has sent here already, so each arrives twice.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => controller.abort(reason))
  }
  return controller.signal
}
