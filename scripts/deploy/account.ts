import { z } from "zod"
import type { CloudflareAccount } from "./cloudflare.ts"
import { parseJsonOutput, runWrangler } from "./wrangler.ts"

const LOG_IN =
  "No Cloudflare account is logged in: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN and " +
  "CLOUDFLARE_ACCOUNT_ID."

const credentials = z.union([
  z.object({ type: z.literal("api_key"), key: z.string(), email: z.string() }),
  z.object({ token: z.string() }),
])

const identity = z.object({ accounts: z.array(z.object({ id: z.string(), name: z.string() })) })

/** Cloudflare account to deploy to, or a sentence that says why none was found. */
export type CloudflareAccountSearchResult =
  | { isFound: true; api: CloudflareAccount }
  | { isFound: false; problem: string }

/**
 * Finds the Cloudflare account by CLOUDFLARE_ACCOUNT_ID, or the only account that the credentials
 * can access. Credentials come from CLOUDFLARE_API_TOKEN or wrangler's log-in.
 */
export async function findCloudflareAccount(
  environment: NodeJS.ProcessEnv,
): Promise<CloudflareAccountSearchResult> {
  const headers = await findCredentials(environment)
  if (!headers) return notFound(LOG_IN)
  const chosen = environment["CLOUDFLARE_ACCOUNT_ID"]
  if (chosen) return { isFound: true, api: { accountId: chosen, headers } }
  return await findOnlyAccount(headers)
}

/**
 * Returns the account with renewed credentials, because credentials of wrangler's log-in expire
 * after an hour.
 */
export async function refreshCloudflareCredentials(
  api: CloudflareAccount,
): Promise<CloudflareAccount> {
  return { ...api, headers: (await findCredentials(process.env)) ?? api.headers }
}

async function findCredentials(
  environment: NodeJS.ProcessEnv,
): Promise<Record<string, string> | null> {
  const token = environment["CLOUDFLARE_API_TOKEN"]
  if (token) return { authorization: `Bearer ${token}` }
  const { stdout } = await runWrangler(["auth", "token", "--json"])
  const { data } = credentials.safeParse(parseJsonOutput(stdout))
  if (!data) return null
  return "key" in data
    ? { "x-auth-key": data.key, "x-auth-email": data.email }
    : { authorization: `Bearer ${data.token}` }
}

async function findOnlyAccount(
  headers: Record<string, string>,
): Promise<CloudflareAccountSearchResult> {
  const whoami = await runWrangler(["whoami", "--json"])
  const { data } = identity.safeParse(parseJsonOutput(whoami.stdout))
  if (!data)
    return notFound(`Cloudflare did not return the account of the log-in:\n${whoami.output}`)
  const [account, ...others] = data.accounts
  if (!account) return notFound("No account is known: set CLOUDFLARE_ACCOUNT_ID to one.")
  if (others.length === 0) return { isFound: true, api: { accountId: account.id, headers } }
  const list = data.accounts.map(({ id, name }) => `  ${id}  ${name}`).join("\n")
  return notFound(`The log-in has several accounts: set CLOUDFLARE_ACCOUNT_ID to one of\n${list}`)
}

function notFound(problem: string): CloudflareAccountSearchResult {
  return { isFound: false, problem }
}
