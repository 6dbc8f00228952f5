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

/** What runners that transcribe are told. */
const SPEECH_NAMES = [
  "WHISPER_MODEL",
  "WHISPER_MODELS",
  "WHISPER_IDLE_SECONDS",
] as const satisfies (keyof Env)[]

/** Settings and secrets of the Worker that a new container of a pool is started with. */
export function poolEnvironment(env: Env, pool: PoolName): Record<string, string> {
  return Object.fromEntries(
    ["LOG_LEVEL" as const, ...namesFor(pool)].flatMap((name) => {
      const { [name]: value } = env
      return value ? [[name, value]] : []
    }),
  )
}

function namesFor(
  pool: PoolName,
): readonly ((typeof WEB_NAMES)[number] | (typeof SPEECH_NAMES)[number])[] {
  if (pool === "speech") return SPEECH_NAMES
  return POOLS[pool].network === "none" ? [] : WEB_NAMES
}
