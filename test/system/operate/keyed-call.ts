import type { TestService } from "../service.ts"

/** Sends a request with a key, to a path of the interface or to the whole URL of a record. */
export type KeyedCall = (path: string, init?: RequestInit) => Promise<Response>

export function openKeyedCall({ origin }: Pick<TestService, "origin">, key: string): KeyedCall {
  return (path, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set("x-api-key", key)
    return fetch(path.startsWith("http") ? path : `${origin}/v1${path}`, { ...init, headers })
  }
}
