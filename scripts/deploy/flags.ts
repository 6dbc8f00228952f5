import { parseArgs } from "node:util"
import { CliError } from "../local/cli-error.ts"

export type Flags = {
  wantsHelp: boolean
  /** Shows and checks what a deployment would do; needs no account and changes nothing there. */
  isRehearsal: boolean
  rotatesOperatorToken: boolean
}

export const USAGE = `Usage: npm run deploy [-- --dry-run | --rotate-operator-token]

Makes or updates a deployment of Lathe on Cloudflare, from this clone. Running it again is safe: it
creates only what is missing, and goes on where a run before it failed.

  --dry-run                 checks everything that needs no account, and changes nothing there; ends
                            with 1 where a deployment from here would stop, and says why at the end
  --rotate-operator-token   makes a new operator token, which this machine then keeps
  --help                    says this

It needs Docker, and either \`npx wrangler login\` or CLOUDFLARE_API_TOKEN with CLOUDFLARE_ACCOUNT_ID.
Settings are read from the environment and remembered by the deployment: docs/operate.md has them.`

/** Parses the command's arguments; throws a CliError with the usage where they are not valid. */
export function parseFlags(words: string[]): Flags {
  const values = parseWords(words)
  const flags = {
    wantsHelp: values.help ?? false,
    isRehearsal: values["dry-run"] ?? false,
    rotatesOperatorToken: values["rotate-operator-token"] ?? false,
  }
  if (flags.isRehearsal && flags.rotatesOperatorToken) {
    throw misused("--dry-run changes nothing, so it cannot go with --rotate-operator-token.")
  }
  return flags
}

function parseWords(words: string[]) {
  try {
    const { values } = parseArgs({
      args: words,
      options: {
        help: { type: "boolean", short: "h" },
        "dry-run": { type: "boolean" },
        "rotate-operator-token": { type: "boolean" },
      },
    })
    return values
  } catch (error) {
    throw misused(error instanceof Error ? error.message : String(error))
  }
}

function misused(sentence: string): CliError {
  return new CliError(`${sentence}\n\n${USAGE}`)
}
