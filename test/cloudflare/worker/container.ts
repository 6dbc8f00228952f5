import { CALL_FAILED, URL_HEADER } from "../switches.ts"

/** The part of `ctx.container` that the class of @cloudflare/containers uses. */
type StartOptions = { env?: Record<string, string> }

/** The start that runs, of each object; longer than the object itself, as an instance is. */
const running = new Map<string, object>()
/** Ways out that objects have registered, by object and host. */
const interceptions = new Map<string, Fetcher>()

/**
 * Gives an object a container that is a process of the rig's engine, with the errors of the
 * platform; where the platform has given one already, as under `wrangler dev`, that one stays.
 */
export function withContainer(
  ctx: DurableObjectState<object>,
  className: string,
  engine: Fetcher | undefined,
): DurableObjectState<object> {
  if (engine) {
    const value = makeContainer(ctx, `http://engine/${className}/${ctx.id.toString()}`, engine)
    Object.defineProperty(ctx, "container", { value, configurable: true })
  }
  return ctx
}

/** Answers what the instance of an object asked of a host. */
export async function answerInstance(
  ctx: DurableObjectState<object>,
  request: Request,
): Promise<Response> {
  const url = new URL(request.headers.get(URL_HEADER) ?? "")
  const fetcher = interceptions.get(`${ctx.id.toString()} ${url.hostname}`)
  if (!fetcher) return new Response("Origin is disallowed", { status: 520 })
  return await fetcher.fetch(new Request(url, request))
}

function makeContainer(ctx: DurableObjectState<object>, url: string, engine: Fetcher) {
  const id = ctx.id.toString()
  let starting: Promise<unknown> = Promise.resolve()
  function post(path: string, body: object): Promise<Response> {
    return engine.fetch(`${url}/${path}`, { method: "POST", body: JSON.stringify(body) })
  }
  return {
    get running() {
      return running.has(id)
    },
    start({ env = {} }: StartOptions) {
      running.set(id, {})
      starting = post("start", { env }).catch(() => undefined)
    },
    async monitor(): Promise<void> {
      const own = running.get(id)
      await starting
      const problem = await (await post("ended", {})).text()
      if (running.get(id) === own) running.delete(id)
      if (problem !== "") throw new Error(problem)
    },
    signal(signal: number) {
      ctx.waitUntil(post("signal", { signal }))
    },
    async destroy(): Promise<void> {
      await starting
      await post("destroy", {})
      running.delete(id)
    },
    interceptOutboundHttp(host: string, fetcher: Fetcher): Promise<void> {
      interceptions.set(`${id} ${host}`, fetcher)
      return Promise.resolve()
    },
    interceptAllOutboundHttp: () => Promise.resolve(),
    getTcpPort: () => ({
      async fetch(input: string | Request, init?: RequestInit): Promise<Response> {
        await starting
        const request = new Request(input, init)
        const headers = new Headers(request.headers)
        headers.set(URL_HEADER, request.url)
        const answer = await engine.fetch(
          new Request(`${url}/tcp`, new Request(request, { headers })),
        )
        if (answer.status === CALL_FAILED) throw new Error(await answer.text())
        return answer
      },
    }),
  }
}
