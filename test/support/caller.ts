import { env, exports } from "cloudflare:workers"
import type { Scope } from "../../src/domain/scopes.ts"

const ORIGIN = "https://lathe.test"

/** Caller that sends requests to the Worker with the API key of an account. */
export type TestCaller = ReturnType<typeof makeCallerWithKey>

export type FileRecord = { id: string; name: string; status: string; download_url: string }

/** Creates an account with an API key through the operator's route. */
export async function makeCaller(
  account: string,
  plan?: "trial" | "paid",
  more: { scopes?: Scope[]; expires_at?: string } = {},
) {
  const body = JSON.stringify({ account, plan, ...more })
  const answer = await fetchOperatorRoute("/keys", { method: "POST", body })
  return makeCallerWithKey(await answer.json<{ id: string; key: string }>())
}

/** Returns functions that send requests to the Worker with an API key. */
export function makeCallerWithKey({ id, key }: { id: string; key: string }) {
  function call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set("x-api-key", key)
    return fetchWorker(`/v1${path}`, { ...init, headers })
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

/** Uploads a file. Throws an Error with the response body if the upload is refused. */
export async function uploadTestFile(
  caller: TestCaller,
  name: string,
  content: string | Uint8Array,
): Promise<FileRecord> {
  const body = new FormData()
  body.append("file", new File([content], name))
  const answer = await caller.call("/files", { method: "POST", body })
  if (answer.status !== 201) throw new Error(await answer.text())
  return await answer.json<FileRecord>()
}

/** Sends a request to the Worker without credentials. Does not follow redirects. */
export function fetchWorker(path: string, init: RequestInit = {}): Promise<Response> {
  const url = path.startsWith("http") ? path : ORIGIN + path
  return exports.default.fetch(new Request(url, { redirect: "manual", ...init }))
}

export function fetchOperatorRoute(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = {
    authorization: `Bearer ${env.OPERATOR_TOKEN}`,
    "content-type": "application/json",
  }
  return fetchWorker(`/operator${path}`, { ...init, headers })
}
