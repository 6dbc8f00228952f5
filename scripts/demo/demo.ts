import type { DemoApi } from "./api.ts"
import type { DemoPaths } from "./paths.ts"

/** Demonstration that `npm run demo` shows. */
export type Demo = {
  /** Argument of `npm run demo` that selects the demonstration. */
  name: string
  /** Command line of the demonstration, for a usage message. */
  usage: string
  /** Path of the file that the demonstration uses by default. */
  clip: string
  /**
   * Runs the demonstration on a service that was just started. Throws a CliError if the
   * demonstration fails.
   */
  show(stage: DemoContext): Promise<void>
}

export type DemoContext = {
  api: DemoApi
  paths: DemoPaths
  /** Empty temporary folder, which is removed at the end. */
  folder: string
}
