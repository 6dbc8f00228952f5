import { env as bindings } from "cloudflare:workers"
import { applyD1Limits } from "../../../scripts/start/worker/d1-limits.ts"
import type { Env } from "../../../src/bindings/env.ts"
import * as service from "../../../src/index.ts"
import { INSTANCE_HEADER, isSwitch } from "../switches.ts"
import { answerInstance, withContainer } from "./container.ts"
import { limitDelays, limitQueries } from "./limits.ts"
import { onPlatform } from "./transfers.ts"

// The Worker of the rig: the deployed one, whose containers are processes of the rig's engine, and
// whose bindings and transfers behave as the switches of RIG_SWITCHES say.

type Context = DurableObjectState<object>

const engine = findEngine()
const switches = new Set(String(Reflect.get(bindings, "RIG_SWITCHES")).split(",").filter(isSwitch))

if (switches.has("d1-limits")) {
  applyD1Limits(service, bindings.DB)
  limitQueries(bindings.DB)
}
if (switches.has("queue-delays")) limitDelays(bindings.JOBS)

export class MediaRunner extends service.MediaRunner {
  constructor(ctx: Context, env: Env) {
    super(withContainer(ctx, "MediaRunner", engine), env)
  }

  override fetch(request: Request): Promise<Response> {
    return answerInstance(this.ctx, request)
  }
}

export class LightRunner extends service.LightRunner {
  constructor(ctx: Context, env: Env) {
    super(withContainer(ctx, "LightRunner", engine), env)
  }

  override fetch(request: Request): Promise<Response> {
    return answerInstance(this.ctx, request)
  }
}

export class FetchRunner extends service.FetchRunner {
  constructor(ctx: Context, env: Env) {
    super(withContainer(ctx, "FetchRunner", engine), env)
  }

  override fetch(request: Request): Promise<Response> {
    return answerInstance(this.ctx, request)
  }
}

export class LookupRunner extends service.LookupRunner {
  constructor(ctx: Context, env: Env) {
    super(withContainer(ctx, "LookupRunner", engine), env)
  }

  override fetch(request: Request): Promise<Response> {
    return answerInstance(this.ctx, request)
  }
}

export class SpeechRunner extends service.SpeechRunner {
  constructor(ctx: Context, env: Env) {
    super(withContainer(ctx, "SpeechRunner", engine), env)
  }

  override fetch(request: Request): Promise<Response> {
    return answerInstance(this.ctx, request)
  }
}

for (const [name, runner, deployed] of [
  ["MediaRunner", MediaRunner, service.MediaRunner],
  ["LightRunner", LightRunner, service.LightRunner],
  ["FetchRunner", FetchRunner, service.FetchRunner],
  ["LookupRunner", LookupRunner, service.LookupRunner],
  ["SpeechRunner", SpeechRunner, service.SpeechRunner],
] as const) {
  const handlers = Object.entries(deployed.outboundByHost ?? {})
  // The class of @cloudflare/containers knows handlers by the names of classes, which the bundler
  // changes.
  Object.defineProperty(runner, "name", { value: name })
  runner.outboundByHost = Object.fromEntries(
    handlers.map(([host, handler]) => [host, onPlatform(handler, { switches, note })]),
  )
}

/** The rig's engine; none where a real one runs the containers. */
function findEngine(): Fetcher | undefined {
  const found: unknown = Reflect.get(bindings, "ENGINE")
  return isFetcher(found) ? found : undefined
}

function isFetcher(value: unknown): value is Fetcher {
  return typeof value === "object" && value !== null && "fetch" in value
}

function note(what: string): void {
  void engine?.fetch("http://engine/note", { method: "POST", body: what }).catch(() => undefined)
}

export const { ContainerProxy, Dispatcher, Pool, RateLimiter } = service

export default {
  ...service.default,
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const [name = "", id = ""] = request.headers.get(INSTANCE_HEADER)?.split("/") ?? []
    if (id === "") return await service.default.fetch(request, env, ctx)
    const binding = `${name.replace("Runner", "").toUpperCase()}_RUNNER`
    const objects: DurableObjectNamespace | undefined = Reflect.get(env, binding)
    if (!objects) return new Response(`there is no ${binding}`, { status: 500 })
    return await objects.get(objects.idFromString(id)).fetch(request)
  },
} satisfies ExportedHandler<Env>
