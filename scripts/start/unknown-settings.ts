import { secretNames, settingNames } from "../../src/bindings/settings.ts"
import { findNearestName } from "../../src/hints/nearest-name.ts"
import { CHILD_PROCESS_VARIABLES } from "../cli/environment.ts"
import { RUNNER_VARIABLES } from "./runner-process.ts"
import { startScriptSettingNames } from "../cli/service-config.ts"

/** Settings of deployments that src/bindings/settings.ts does not contain. */
const OF_DEPLOYMENTS = ["LATHE_NAME", "LATHE_DOMAIN", "D1_REPLICAS", "LATHE_GIVEN"]
const OF_SET_UP = ["HF_ENDPOINT", "CHROMIUM_PATH"]

const KNOWN: ReadonlySet<string> = new Set([
  ...settingNames,
  ...secretNames,
  ...startScriptSettingNames,
  ...RUNNER_VARIABLES,
  ...CHILD_PROCESS_VARIABLES,
  ...OF_DEPLOYMENTS,
  ...OF_SET_UP,
])

/** Common variables of other programs whose names are similar to a setting. */
const OF_OTHERS = new Set(["HTTP_PROXY", "ALL_PROXY", "HOSTS", "PORTS"])
/** Prefixes of setting names that no other program uses. */
const OWN_PREFIX = /^(?:LATHE|TRIAL|PAID|WHISPER|YTDLP|YT_DLP|FETCH|S3_SOURCE)S?_/
const PLAIN_NAME = /^[A-Z][A-Z0-9_]*$/
const EDITS_MAX = 2

/**
 * Returns a sentence with the most similar setting for each variable that looks like a setting and
 * that no part of the project reads.
 */
export function findUnknownSettingWarnings(variables: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(variables).flatMap((name) => {
    if (!PLAIN_NAME.test(name) || KNOWN.has(name) || OF_OTHERS.has(name)) return []
    const meant = findNearestName(name, KNOWN, EDITS_MAX)
    if (meant === null && !OWN_PREFIX.test(name)) return []
    const guess = meant === null ? "" : `; did you mean ${meant}?`
    return [`${name} is no setting, and has no effect${guess || "."}`]
  })
}
