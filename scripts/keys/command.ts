import { parseArgs } from "node:util"
import { PLANS } from "../../src/plans.ts"
import type { Plan } from "../../src/plans.ts"
import { CliError } from "../local/cli-error.ts"

export type Command = { remote?: string } & (
  | { kind: "create"; account: string; plan?: Plan }
  | { kind: "list" }
  | { kind: "revoke"; id: string }
  | { kind: "plan"; account: string; plan: Plan }
)

const USAGE = `Usage:
  npm run keys -- create --account NAME [--plan ${PLANS.join("|")}]
  npm run keys -- list
  npm run keys -- revoke ID
  npm run keys -- plan NAME ${PLANS.join("|")}
--remote URL asks a deployment: with OPERATOR_TOKEN, else the token that npm run deploy kept here.`

/** Parses the command line; throws a CliError with the usage where it is not valid. */
export function parseCommand(words: string[]): Command {
  const { values, positionals } = parseWords(words)
  const [kind, id, ...rest] = positionals
  const remote = values.remote === undefined ? {} : { remote: originOf(values.remote) }
  if (kind === "create" && id === undefined) {
    if (!values.account) throw misused("create needs --account NAME.")
    const plan = values.plan === undefined ? {} : { plan: planOf("--plan", values.plan) }
    return { ...remote, kind, account: values.account, ...plan }
  }
  if (kind !== "create" && (values.account !== undefined || values.plan !== undefined)) {
    throw misused("--account and --plan belong to create.")
  }
  if (kind === "list" && id === undefined) return { ...remote, kind }
  if (kind === "revoke" && rest.length === 0) {
    if (id === undefined) throw misused("revoke needs the ID of a key, as list shows it.")
    return { ...remote, kind, id }
  }
  if (kind === "plan" && rest.length < 2) {
    const [plan] = rest
    if (id === undefined || plan === undefined) {
      throw misused("plan needs the NAME of an account, as list shows it, and a plan.")
    }
    return { ...remote, kind, account: id, plan: planOf("PLAN", plan) }
  }
  throw misused(kind === undefined ? "No command." : `Not a command: ${positionals.join(" ")}.`)
}

function parseWords(words: string[]) {
  try {
    return parseArgs({
      args: words,
      allowPositionals: true,
      options: {
        account: { type: "string" },
        plan: { type: "string" },
        remote: { type: "string" },
      },
    })
  } catch (error) {
    throw misused(error instanceof Error ? error.message : String(error))
  }
}

function planOf(where: string, text: string): Plan {
  const plan = PLANS.find((known) => known === text)
  if (plan === undefined) throw misused(`${where} is one of ${PLANS.join(", ")}.`)
  return plan
}

function originOf(text: string): string {
  const url = URL.parse(text)
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    throw misused("--remote needs the URL of a deployment.")
  }
  return url.origin
}

function misused(sentence: string): CliError {
  return new CliError(`${sentence}\n${USAGE}`)
}
