import { z } from "zod"
import type { Cloudflare } from "./cloudflare.ts"
import { parseJson, runWrangler } from "./wrangler.ts"

const LOG_IN =
  "Nobody is logged in to Cloudflare: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN and " +
  "CLOUDFLARE_ACCOUNT_ID."

const credentials = z.union([
  z.object({ type: z.literal("api_key"), key: z.string(), email: z.string() }),
  z.object({ token: z.string() }),
])

const identity = z.object({ accounts: z.array(z.object({ id: z.string(), name: z.string() })) })

/** The account to deploy to, or a sentence that says why there is none. */
export type FoundAccount = { isFound: true; api: Cloudflare } | { isFound: false; problem: string }

/** Finds the account that wrangler's log-in and CLOUDFLARE_ACCOUNT_ID name. */
export async function findAccount(environment: NodeJS.ProcessEnv): Promise<FoundAccount> {
  const headers = await findCredentials(environment)
  if (!headers) return lacking(LOG_IN)
  const chosen = environment["CLOUDFLARE_ACCOUNT_ID"]
  if (chosen) return { isFound: true, api: { accountId: chosen, headers } }
  return await findOnlyAccount(headers)
}

/** The same account with fresh credentials: those of a log-in expire after an hour. */
export async function refreshCredentials(api: Cloudflare): Promise<Cloudflare> {
  return { ...api, headers: (await findCredentials(process.env)) ?? api.headers }
}

async function findCredentials(
  environment: NodeJS.ProcessEnv,
): Promise<Record<string, string> | null> {
  const token = environment["CLOUDFLARE_API_TOKEN"]
  if (token) return { authorization: `Bearer ${token}` }
  const { stdout } = await runWrangler(["auth", "token", "--json"])
  const { data } = credentials.safeParse(parseJson(stdout))
  if (!data) return null
  return "key" in data
    ? { "x-auth-key": data.key, "x-auth-email": data.email }
    : { authorization: `Bearer ${data.token}` }
}

async function findOnlyAccount(headers: Record<string, string>): Promise<FoundAccount> {
  const whoami = await runWrangler(["whoami", "--json"])
  const { data } = identity.safeParse(parseJson(whoami.stdout))
  if (!data) return lacking(`Cloudflare does not say whose log-in this is:\n${whoami.output}`)
  const [account, ...others] = data.accounts
  if (!account) return lacking("No account is known: set CLOUDFLARE_ACCOUNT_ID to one.")
  if (others.length === 0) return { isFound: true, api: { accountId: account.id, headers } }
  const list = data.accounts.map(({ id, name }) => `  ${id}  ${name}`).join("\n")
  return lacking(`The log-in has several accounts: set CLOUDFLARE_ACCOUNT_ID to one of\n${list}`)
}

function lacking(problem: string): FoundAccount {
  return { isFound: false, problem }
}
