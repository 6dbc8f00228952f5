import { call } from "./cloudflare.ts"
import type { ApiResult, Cloudflare } from "./cloudflare.ts"

const SERVER_ERROR = 500

/** Services that a deployment uses, a read-only call of each, and how to get access to it. */
const SERVICES = [
  { name: "D1", path: "/d1/database?per_page=10", advice: "" },
  { name: "Queues", path: "/queues?page=1", advice: "" },
  {
    name: "R2",
    path: "/r2/buckets?per_page=1",
    advice:
      " R2 is switched on once for each account: https://dash.cloudflare.com/?to=/:account/r2.",
  },
  {
    name: "containers",
    path: "/containers/me",
    advice:
      " They need the Workers Paid plan: https://dash.cloudflare.com/?to=/:account/workers/plans.",
  },
]

export type Refusal = ApiResult & { isOk: false }

/** Services that the account or its credentials have no access to, a sentence each. */
export async function findClosedServices(api: Cloudflare): Promise<string[]> {
  const sentences = await Promise.all(
    SERVICES.map(async ({ name, path, advice }) => {
      const answer = await call(api, "GET", path)
      if (answer.isOk) return []
      return [describeRefusal(answer, `for ${name} on account ${api.accountId}`) + advice]
    }),
  )
  return sentences.flat()
}

/** The same answer is given where the plan lacks a service and where the token may not use it. */
export function describeRefusal({ status, message }: Refusal, forWhat: string): string {
  if (status >= SERVER_ERROR) return `Cloudflare's API is not well: ${message}. Try again later.`
  return `Cloudflare refuses these credentials ${forWhat}: ${message}. docs/operate.md lists the rights that a token needs.`
}
