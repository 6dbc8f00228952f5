import { call } from "./cloudflare.ts"
import type { Answer, Cloudflare } from "./cloudflare.ts"

const SERVER_ERROR = 500

/** What a deployment uses of an account, a call that only reads of it, and what opens it. */
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

export type Refusal = Answer & { isOk: false }

/** Which services the account or its credentials do not open, a sentence each. */
export async function findClosedServices(api: Cloudflare): Promise<string[]> {
  const sentences = await Promise.all(
    SERVICES.map(async ({ name, path, advice }) => {
      const answer = await call(api, "GET", path)
      if (answer.isOk) return []
      return [sayRefusal(answer, `for ${name} on account ${api.accountId}`) + advice]
    }),
  )
  return sentences.flat()
}

/** One refusal stands for a plan that lacks something and for a token that lacks its right. */
export function sayRefusal({ status, message }: Refusal, forWhat: string): string {
  if (status >= SERVER_ERROR) return `Cloudflare's API is not well: ${message}. Try again later.`
  return `Cloudflare refuses these credentials ${forWhat}: ${message}. docs/operate.md lists the rights that a token needs.`
}
