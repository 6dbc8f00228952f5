import { z } from "zod"
import type { Scope } from "../../src/domain/scopes.ts"
import { CliError } from "../cli/cli-error.ts"

const ANSWER_WITHIN_MS = 30_000
const KEYS_OF_PAGE = 1000

/**
 * Access to the operator routes of a service: the service's origin and its operator token.
 * `isLocal` is true for a service on this machine.
 */
export type OperatorAccess = { origin: string; token: string; isLocal: boolean }

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

/** Fields of a request for a new API key. The service has defaults for omitted fields. */
export type NewKeyRequest = {
  account: string
  plan?: string
  name?: string
  scopes?: Scope[]
  expires_at?: string
}

export type ListedKeyRecord = z.infer<typeof listedKey>
export type CreatedKeyRecord = z.infer<typeof createdKey>

export async function createKeyAsOperator(
  operator: OperatorAccess,
  request: NewKeyRequest,
): Promise<CreatedKeyRecord> {
  return createdKey.parse(await requestOperatorRoute(operator, "POST", "/operator/keys", request))
}

/** Returns all API keys of the service from all pages of the list. */
export async function listKeysAsOperator(operator: OperatorAccess): Promise<ListedKeyRecord[]> {
  const keys: ListedKeyRecord[] = []
  for (let before = ""; ; before = keys.at(-1)?.id ?? "") {
    const query = new URLSearchParams({ limit: String(KEYS_OF_PAGE), ...(before && { before }) })
    const answer = await requestOperatorRoute(operator, "GET", `/operator/keys?${query.toString()}`)
    const page = z.array(listedKey).parse(answer)
    keys.push(...page)
    if (page.length < KEYS_OF_PAGE) return keys
  }
}

/** Creates an API key that replaces a key. The replaced key stays valid for the overlap. */
export async function rotateKeyAsOperator(
  operator: OperatorAccess,
  { id, overlapSeconds }: { id: string; overlapSeconds?: number | undefined },
): Promise<z.infer<typeof rotatedKey>> {
  const path = `/operator/keys/${encodeURIComponent(id)}/rotate`
  const body = overlapSeconds === undefined ? {} : { overlap_seconds: overlapSeconds }
  return rotatedKey.parse(await requestOperatorRoute(operator, "POST", path, body))
}

export async function revokeKeyAsOperator(operator: OperatorAccess, id: string): Promise<void> {
  await requestOperatorRoute(operator, "DELETE", `/operator/keys/${encodeURIComponent(id)}`)
}

/** Assigns a plan to an account. */
export async function changePlanAsOperator(
  operator: OperatorAccess,
  request: { account: string; plan: string },
): Promise<void> {
  await requestOperatorRoute(operator, "PUT", "/operator/plans", request)
}

/**
 * Makes the user with this email address an operator. Returns a link that sets the user's password
 * once.
 */
export async function requestOperatorAppointment(
  operator: OperatorAccess,
  email: string,
): Promise<string> {
  const answer = await requestOperatorRoute(operator, "POST", "/operator/operators", { email })
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

/** Returns the newest accounts that match a search text, at most 100. */
export async function listAccountsAsOperator(operator: OperatorAccess, search: string) {
  const query = new URLSearchParams({ search, limit: "100" }).toString()
  return accountPage.parse(
    await requestOperatorRoute(operator, "GET", `/operator/accounts?${query}`),
  ).accounts
}

/** Deletes an account with all its data. */
export async function deleteAccountAsOperator(operator: OperatorAccess, id: string): Promise<void> {
  await requestOperatorRoute(operator, "DELETE", `/operator/accounts/${encodeURIComponent(id)}`)
}

/**
 * Requests an operator route, and returns the parsed JSON. Throws a CliError with the service's
 * message for an error response.
 */
export async function requestOperatorRoute(
  operator: OperatorAccess,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await send(operator, method, path, body)
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok) return answer
  const { data } = problem.safeParse(answer)
  throw new CliError(data?.message ?? `${operator.origin} returned status ${response.status}.`)
}

async function send(
  operator: OperatorAccess,
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
    throw new CliError(`No service responds at ${operator.origin}${hint}.`, { cause: error })
  }
}
