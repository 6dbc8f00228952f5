import { parseArgs } from "node:util"
import { CliError } from "../cli/cli-error.ts"

export type DeployFlags = {
  wantsHelp: boolean
  /**
   * Whether to make a dry run, which checks everything that needs no Cloudflare account, and
   * changes nothing.
   */
  isRehearsal: boolean
  rotatesOperatorToken: boolean
  /**
   * Time of the check with real jobs: `after` the deployment, `alone` instead of a deployment, or
   * never (`none`).
   */
  check: "after" | "alone" | "none"
  /** Origin of the service that `--check` checks; null for the origin of the deployment. */
  origin: string | null
}

export const DEPLOY_USAGE = `Usage: npm run deploy [-- --dry-run | --check [--origin URL] | --rotate-operator-token | --no-check]

Makes or updates a deployment of Lathe on Cloudflare, from this clone. Running it again is safe: it
creates only what is missing, and goes on where a run before it failed.

  --dry-run                 checks everything that needs no account, and changes nothing there; ends
                            with 1 if a deployment from this machine would stop, and prints why
  --check                   deploys nothing: has what is deployed do a job of each kind, on an account
                            that is deleted at the end, and says what of the platform does not work
  --origin URL              of --check: another service than the deployment, as that of npm start
  --no-check                deploys without that check, which otherwise ends each deployment
  --rotate-operator-token   makes a new operator token, which this machine then keeps
  --help                    prints this text

It needs Docker, and either \`npx wrangler login\` or CLOUDFLARE_API_TOKEN with CLOUDFLARE_ACCOUNT_ID.
Settings are read from the environment and remembered by the deployment: docs/operate/settings.md has them.`

/**
 * Parses the arguments of `npm run deploy`. Throws a CliError with the usage if the arguments are
 * invalid.
 */
export function parseDeployFlags(words: string[]): DeployFlags {
  const values = parseWords(words)
  const { "dry-run": isRehearsal = false, check: isAlone = false, origin } = values
  const rotatesOperatorToken = values["rotate-operator-token"] ?? false
  const isUnchecked = values["no-check"] ?? false
  if (isRehearsal && rotatesOperatorToken) {
    throw misused("--dry-run changes nothing, so it cannot go with --rotate-operator-token.")
  }
  if (isAlone && (isRehearsal || rotatesOperatorToken || isUnchecked)) {
    throw misused("--check deploys nothing, so it goes with --origin alone.")
  }
  if (origin !== undefined && !isAlone) throw misused("--origin says what --check is to check.")
  return {
    wantsHelp: values.help ?? false,
    isRehearsal,
    rotatesOperatorToken,
    check: checkOf({ isAlone, isUnchecked }),
    origin: origin === undefined ? null : readOrigin(origin),
  }
}

function checkOf(flags: { isAlone: boolean; isUnchecked: boolean }): DeployFlags["check"] {
  if (flags.isAlone) return "alone"
  return flags.isUnchecked ? "none" : "after"
}

/** Returns the origin of a URL. The URL may end with /v1. */
function readOrigin(text: string): string {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol)) return url.origin
  throw misused(`--origin is "${text}": expected an address such as https://media.example.com.`)
}

function parseWords(words: string[]) {
  try {
    const { values } = parseArgs({
      args: words,
      options: {
        help: { type: "boolean", short: "h" },
        "dry-run": { type: "boolean" },
        check: { type: "boolean" },
        "no-check": { type: "boolean" },
        origin: { type: "string" },
        "rotate-operator-token": { type: "boolean" },
      },
    })
    return values
  } catch (error) {
    throw misused(error instanceof Error ? error.message : String(error))
  }
}

function misused(sentence: string): CliError {
  return new CliError(`${sentence}\n\n${DEPLOY_USAGE}`)
}
