import { env, exports } from "cloudflare:workers"

const ORIGIN = "https://lathe.test"

/** An account's caller: requests to the Worker that carry its key. */
export type Caller = Awaited<ReturnType<typeof makeCaller>>

/** Makes an account with a key, through the operator's route. */
export async function makeCaller(account: string) {
  const answer = await askOperator("/keys", { method: "POST", body: JSON.stringify({ account }) })
  const { id, key } = await answer.json<{ id: string; key: string }>()
  function call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set("x-api-key", key)
    return ask(`/v1${path}`, { ...init, headers })
  }
  return {
    id,
    key,
    call,
    post: (path: string, body: unknown) =>
      call(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
  }
}

/** A request to the Worker as it is; redirects are not followed. */
export function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const url = path.startsWith("http") ? path : ORIGIN + path
  return exports.default.fetch(new Request(url, { redirect: "manual", ...init }))
}

export function askOperator(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = {
    authorization: `Bearer ${env.OPERATOR_TOKEN}`,
    "content-type": "application/json",
  }
  return ask(`/operator${path}`, { ...init, headers })
}
