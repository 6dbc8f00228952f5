import type { Env } from "../bindings/env.ts"
import { POOLS } from "../bindings/pools.ts"
import type { PoolName } from "../bindings/pools.ts"

/** Names of environment variables for runners with access to the web. */
const WEB_NAMES = [
  "ALLOWED_PRIVATE_HOSTS",
  "FETCH_PROXY",
  "FETCH_SITES",
  "FETCH_COOKIES",
  "YTDLP_VERSION",
] as const satisfies (keyof Env)[]

/** Names of environment variables for runners that transcribe speech. */
const SPEECH_NAMES = [
  "WHISPER_MODEL",
  "WHISPER_MODELS",
  "WHISPER_IDLE_SECONDS",
] as const satisfies (keyof Env)[]

/** Returns the environment variables of the Worker that containers of a pool get too. */
export function makeContainerEnvironment(env: Env, pool: PoolName): Record<string, string> {
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
