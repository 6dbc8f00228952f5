import type { Api } from "./api.ts"
import type { DemoPaths } from "./paths.ts"

/** One of the things that `npm run demo` shows. */
export type Demo = {
  /** The word that asks for it; none asks for the first. */
  name: string
  /** How to call it. */
  usage: string
  /** The file that it takes where it is given none. */
  clip: string
  /** Does it on a service that has just started; throws a CliError where that fails. */
  show(stage: Stage): Promise<void>
}

export type Stage = {
  api: Api
  paths: DemoPaths
  /** An empty folder, which is removed at the end. */
  folder: string
}
