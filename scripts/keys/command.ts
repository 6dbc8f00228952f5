import { parseArgs } from "node:util"
import { BUILT_IN_PLANS } from "../../src/domain/plans.ts"
import { SCOPES } from "../../src/domain/scopes.ts"
import type { Scope } from "../../src/domain/scopes.ts"
import { CliError } from "../cli/cli-error.ts"
import type { NewKeyRequest } from "./operator.ts"

export type KeysCommand = { remote?: string } & (
  | { kind: "create"; wanted: NewKeyRequest }
  | { kind: "list" }
  | { kind: "rotate"; id: string; overlapSeconds?: number }
  | { kind: "revoke"; id: string }
  | { kind: "plan"; account: string; plan: string }
  | { kind: "operator"; email: string }
)

/**
 * Names of the built-in plans for the usage text, and a placeholder for the operator's plans, whose
 * names only the service knows.
 */
const PLANS = [...BUILT_IN_PLANS, "PLAN"].join("|")

const USAGE = `Usage:
  npm run keys -- create --account NAME [--plan ${PLANS}]
      [--name NAME] [--scopes ${SCOPES.join(",")}] [--expires DAYS|DATE]
  npm run keys -- list
  npm run keys -- rotate ID [--overlap SECONDS]
  npm run keys -- revoke ID
  npm run keys -- plan NAME ${PLANS}
  npm run keys -- operator EMAIL
--remote URL asks a deployment: with OPERATOR_TOKEN, else the token that npm run deploy kept here.`

/**
 * Parses the arguments of `npm run keys`. If the arguments are invalid, throws a CliError with the
 * usage.
 */
export function parseKeysCommand(words: string[]): KeysCommand {
  const { values, positionals } = parseWords(words)
  const [kind, id, ...rest] = positionals
  const remote = values.remote === undefined ? {} : { remote: originOf(values.remote) }
  requireOwnOptions(kind, values)
  if (kind === "create" && id === undefined) {
    return { ...remote, kind, wanted: newKeyOf(values) }
  }
  if (kind === "list" && id === undefined) return { ...remote, kind }
  if (kind === "rotate" && rest.length === 0) {
    if (id === undefined) throw misused("rotate needs the ID of a key, as list shows it.")
    return { ...remote, kind, id, ...overlapOf(values) }
  }
  if (kind === "revoke" && rest.length === 0) {
    if (id === undefined) throw misused("revoke needs the ID of a key, as list shows it.")
    return { ...remote, kind, id }
  }
  if (kind === "plan" && rest.length < 2) {
    const [plan] = rest
    if (id === undefined || plan === undefined) {
      throw misused("plan needs the NAME of an account, as list shows it, and a plan.")
    }
    return { ...remote, kind, account: id, plan }
  }
  if (kind === "operator" && rest.length === 0) {
    if (id === undefined) throw misused("operator needs the EMAIL of the operator.")
    return { ...remote, kind, email: id }
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
        name: { type: "string" },
        scopes: { type: "string" },
        expires: { type: "string" },
        overlap: { type: "string" },
        remote: { type: "string" },
      },
    })
  } catch (error) {
    throw misused(error instanceof Error ? error.message : String(error))
  }
}

type Values = ReturnType<typeof parseWords>["values"]

/** Command to which each option of `npm run keys` belongs. All commands accept --remote. */
const COMMAND_OF: Record<Exclude<keyof Values, "remote">, KeysCommand["kind"]> = {
  account: "create",
  plan: "create",
  name: "create",
  scopes: "create",
  expires: "create",
  overlap: "rotate",
}

function requireOwnOptions(kind: string | undefined, values: Values): void {
  const names = new Set(Object.keys(values))
  for (const [option, command] of Object.entries(COMMAND_OF)) {
    if (names.has(option) && kind !== command) throw misused(`--${option} belongs to ${command}.`)
  }
}

function newKeyOf({ account, plan, name, scopes, expires }: Values): NewKeyRequest {
  if (!account) throw misused("create needs --account NAME.")
  const [list, expires_at] = [
    scopes === undefined ? undefined : parseScopes(scopes),
    expires === undefined ? undefined : parseExpiry(expires, Date.now()),
  ]
  if (list === null) throw misused(`--scopes takes ${SCOPES.join(", ")}, by commas.`)
  if (expires_at === null) {
    throw misused("--expires takes days, or a date in the future such as 2027-01-31.")
  }
  return {
    account,
    ...(plan !== undefined && { plan }),
    ...(name !== undefined && { name }),
    ...(list && { scopes: list }),
    ...(expires_at !== undefined && { expires_at }),
  }
}

function overlapOf({ overlap }: Values): { overlapSeconds?: number } {
  if (overlap === undefined) return {}
  if (!/^\d{1,9}$/.test(overlap)) throw misused("--overlap takes seconds.")
  return { overlapSeconds: Number(overlap) }
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

const DAY_MS = 86_400_000

/** Parses scopes that are separated by commas. Returns null if a scope is unknown. */
function parseScopes(text: string): Scope[] | null {
  const names = text.split(",").map((name) => name.trim())
  const scopes = names.flatMap((name) => SCOPES.find((scope) => scope === name) ?? [])
  return scopes.length === names.length ? scopes : null
}

/**
 * Parses the expiry of a key: a number of days after `now`, a date (its start in UTC), or a time
 * with a zone. Returns the time in ISO 8601. Returns null if the text is invalid or the time is not
 * in the future.
 */
export function parseExpiry(text: string, now: number): string | null {
  const days = /^\d{1,5}$/.test(text) ? Number(text) : null
  const isDate = /^\d{4}-\d\d-\d\d(T.+(Z|[+-]\d\d:\d\d))?$/.test(text)
  const moment = days === null ? Date.parse(isDate ? text : "") : now + days * DAY_MS
  return moment > now ? new Date(moment).toISOString() : null
}
