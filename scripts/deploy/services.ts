import { call } from "./cloudflare.ts"
import type { ApiResult, Cloudflare } from "./cloudflare.ts"
import { rightsFor } from "./rights.ts"

const SERVER_ERROR = 500
const PAID_PLAN =
  " They need the Workers Paid plan: https://dash.cloudflare.com/?to=/:account/workers/plans."

/** The credentials of an image's push end after this. */
const CREDENTIALS_MINUTES = 5

/** Services that a deployment uses, a call of each that changes nothing, and how to get access to it. */
const SERVICES: Service[] = [
  { name: "D1", method: "GET", path: "/d1/database?per_page=10", advice: "" },
  { name: "Queues", method: "GET", path: "/queues?page=1", advice: "" },
  {
    name: "R2",
    method: "GET",
    path: "/r2/buckets?per_page=1",
    advice:
      " R2 is switched on once for each account: https://dash.cloudflare.com/?to=/:account/r2.",
  },
  {
    name: "containers",
    method: "GET",
    path: "/containers/me",
    advice: PAID_PLAN,
  },
  {
    name: "images of containers",
    method: "POST",
    path: "/containers/registries/registry.cloudflare.com/credentials",
    body: { expiration_minutes: CREDENTIALS_MINUTES, permissions: ["push", "pull"] },
    advice: "",
  },
]

type Service = {
  name: string
  method: "GET" | "POST"
  path: string
  body?: Record<string, unknown>
  advice: string
}

export type Refusal = ApiResult & { isOk: false }

/** Services that the account or its credentials have no access to, a sentence each. */
export async function findClosedServices(api: Cloudflare): Promise<string[]> {
  const sentences = await Promise.all(
    SERVICES.map(async ({ name, method, path, body, advice }) => {
      const answer = await call(api, method, path, body)
      if (answer.isOk) return []
      const forWhat = `for ${name} on account ${api.accountId}`
      return [describeRefusal(answer, { path, forWhat }) + advice]
    }),
  )
  return sentences.flat()
}

/** The same answer is given where the plan lacks a service and where the token may not use it. */
export function describeRefusal(
  { status, message }: Refusal,
  { path, forWhat }: { path: string; forWhat: string },
): string {
  if (status >= SERVER_ERROR) return `Cloudflare's API is not well: ${message}. Try again later.`
  return `Cloudflare refuses these credentials ${forWhat}: ${message}.${rightsFor(path)}`
}
