import { CliError } from "../../local/cli-error.ts"
import { stopSignal } from "../../local/stop-signal.ts"
import type { Operator } from "../../keys/operator.ts"
import { checkService } from "./check.ts"

/** The first deployment's images are there after some minutes, and a container waits for its image. */
const STEP_MS_MAX = 600_000

/** Media that the check fetches and looks up; null where CHECK_URL names none. Throws a CliError for no URL. */
export function readCheckUrl({ CHECK_URL: checkUrl }: NodeJS.ProcessEnv): string | null {
  if (!checkUrl) return null
  if (/^https?:$/.test(URL.parse(checkUrl)?.protocol ?? "")) return checkUrl
  throw new CliError(`CHECK_URL is "${checkUrl}": expected the URL of media, such as a video.`)
}

/** Checks a service from the command line; Ctrl-C ends the check with its account. */
export async function runCheck(operator: Operator, checkUrl: string | null): Promise<void> {
  await checkService({
    operator,
    checkUrl,
    signal: stopSignal(new CliError("The check was stopped, and its account is deleted.")),
    stepMsMax: STEP_MS_MAX,
    tell: (line) => console.log(line),
  })
}
