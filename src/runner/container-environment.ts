import type { Env } from "../env.ts"
import { POOLS } from "./pools.ts"
import type { PoolName } from "./pools.ts"

/** What runners that go to the web are told of it; the others have no use for it. */
const WEB_NAMES = [
  "ALLOWED_PRIVATE_HOSTS",
  "FETCH_PROXY",
  "FETCH_SITES",
  "FETCH_COOKIES",
  "YTDLP_VERSION",
] as const satisfies (keyof Env)[]

/** Settings and secrets of the Worker that a new container of a pool is started with. */
export function webEnvironment(env: Env, pool: PoolName): Record<string, string> {
  if (POOLS[pool].network === "none") return {}
  return Object.fromEntries(
    WEB_NAMES.flatMap((name) => {
      const { [name]: value } = env
      return value ? [[name, value]] : []
    }),
  )
}
