import { secretNames, settingNames } from "../../src/settings.ts"
import { nearestName } from "../../src/hints/nearest-name.ts"
import { TOOL_VARIABLES } from "./environment.ts"
import { PASSED_ON } from "./runner-process.ts"
import { serviceSettingNames } from "./service-config.ts"

/** Settings of deployments, which src/settings.ts does not have. */
const OF_DEPLOYMENTS = ["LATHE_NAME", "LATHE_DOMAIN", "D1_REPLICAS", "LATHE_GIVEN"]
const OF_SET_UP = ["HF_ENDPOINT", "CHROMIUM_PATH"]

const KNOWN: ReadonlySet<string> = new Set([
  ...settingNames,
  ...secretNames,
  ...serviceSettingNames,
  ...PASSED_ON,
  ...TOOL_VARIABLES,
  ...OF_DEPLOYMENTS,
  ...OF_SET_UP,
])

/** Well-known variables of other programs whose names are near to a setting. */
const OF_OTHERS = new Set(["HTTP_PROXY", "ALL_PROXY", "HOSTS", "PORTS"])
/** Names that begin so are of no other program. */
const OWN_PREFIX = /^(?:LATHE|TRIAL|PAID|WHISPER|YTDLP|YT_DLP|FETCH|S3_SOURCE)S?_/
const PLAIN_NAME = /^[A-Z][A-Z0-9_]*$/
const EDITS_MAX = 2

/**
 * A sentence for each variable that no part of the project reads and that looks like a setting, with
 * the nearest one.
 */
export function warningsOfUnknown(variables: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(variables).flatMap((name) => {
    if (!PLAIN_NAME.test(name) || KNOWN.has(name) || OF_OTHERS.has(name)) return []
    const meant = nearestName(name, KNOWN, EDITS_MAX)
    if (meant === null && !OWN_PREFIX.test(name)) return []
    const guess = meant === null ? "" : `; did you mean ${meant}?`
    return [`${name} is no setting, and changes nothing${guess || "."}`]
  })
}
