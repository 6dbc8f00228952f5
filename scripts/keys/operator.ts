import { z } from "zod"
import type { Scope } from "../../src/scopes.ts"
import { CliError } from "../local/cli-error.ts"

const ANSWER_WITHIN_MS = 30_000
const KEYS_OF_PAGE = 1000

/** A service and the token of its operator routes. */
export type Operator = { origin: string; token: string; isLocal: boolean }

const listedKey = z.object({
  id: z.string(),
  prefix: z.string(),
  account: z.string(),
  plan: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
  expires_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
})
const createdKey = listedKey.extend({ key: z.string() })
const rotatedKey = z.object({ id: z.string(), key: z.string() })
const problem = z.object({ message: z.string() })

/** What the operator wants of a new key; what is left out is as the service has it by default. */
export type NewKey = {
  account: string
  plan?: string
  name?: string
  scopes?: Scope[]
  expires_at?: string
}

export type ListedKey = z.infer<typeof listedKey>
export type CreatedKey = z.infer<typeof createdKey>

export async function createKey(operator: Operator, wanted: NewKey): Promise<CreatedKey> {
  return createdKey.parse(await askOperator(operator, "POST", "/operator/keys", wanted))
}

/** All keys, a page at a time. */
export async function listKeys(operator: Operator): Promise<ListedKey[]> {
  const keys: ListedKey[] = []
  for (let before = ""; ; before = keys.at(-1)?.id ?? "") {
    const query = new URLSearchParams({ limit: String(KEYS_OF_PAGE), ...(before && { before }) })
    const answer = await askOperator(operator, "GET", `/operator/keys?${query.toString()}`)
    const page = z.array(listedKey).parse(answer)
    keys.push(...page)
    if (page.length < KEYS_OF_PAGE) return keys
  }
}

/** Makes a key in the place of another, which counts for an overlap yet. */
export async function rotateKey(
  operator: Operator,
  { id, overlapSeconds }: { id: string; overlapSeconds?: number | undefined },
): Promise<z.infer<typeof rotatedKey>> {
  const path = `/operator/keys/${encodeURIComponent(id)}/rotate`
  const body = overlapSeconds === undefined ? {} : { overlap_seconds: overlapSeconds }
  return rotatedKey.parse(await askOperator(operator, "POST", path, body))
}

export async function revokeKey(operator: Operator, id: string): Promise<void> {
  await askOperator(operator, "DELETE", `/operator/keys/${encodeURIComponent(id)}`)
}

/** Gives an account another plan; giving it the one that it has changes nothing. */
export async function changePlan(
  operator: Operator,
  wanted: { account: string; plan: string },
): Promise<void> {
  await askOperator(operator, "PUT", "/operator/plans", wanted)
}

/** Makes the user of an email an operator; answers the link to set its password, which works once. */
export async function appointOperator(operator: Operator, email: string): Promise<string> {
  const answer = await askOperator(operator, "POST", "/operator/operators", { email })
  return z.object({ link: z.url() }).parse(answer).link
}

const accountPage = z.object({
  accounts: z.array(
    z.object({
      id: z.string(),
      name: z.string().nullable(),
      created_at: z.iso.datetime(),
      users: z.array(z.unknown()),
    }),
  ),
})

/** The newest accounts, 100 at most, that a text finds. */
export async function listAccounts(operator: Operator, search: string) {
  const query = new URLSearchParams({ search, limit: "100" }).toString()
  return accountPage.parse(await askOperator(operator, "GET", `/operator/accounts?${query}`))
    .accounts
}

/** Deletes an account with everything that it owns. */
export async function deleteAccount(operator: Operator, id: string): Promise<void> {
  await askOperator(operator, "DELETE", `/operator/accounts/${encodeURIComponent(id)}`)
}

/** The JSON of an answer of the operator's routes; throws a CliError with the service's message. */
export async function askOperator(
  operator: Operator,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await send(operator, method, path, body)
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok) return answer
  const { data } = problem.safeParse(answer)
  throw new CliError(data?.message ?? `${operator.origin} answered with status ${response.status}.`)
}

async function send(
  operator: Operator,
  method: string,
  path: string,
  body: unknown,
): Promise<Response> {
  try {
    return await fetch(operator.origin + path, {
      method,
      headers: { authorization: `Bearer ${operator.token}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  } catch (error) {
    const hint = operator.isLocal ? "; start it with npm start" : ""
    throw new CliError(`No service answers at ${operator.origin}${hint}.`, { cause: error })
  }
}
