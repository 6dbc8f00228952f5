import type { CloudflareState } from "./cloudflare-state.ts"

/**
 * Cloudflare's registry of images, and `/v2/pushed`, where the stand-in of Docker tells what it
 * pushed.
 */
export async function answerRegistry(
  state: CloudflareState,
  request: Request,
  path: string,
): Promise<Response> {
  if (path === "/v2/pushed") return push(state, await request.text())
  const isAllowed = request.headers.get("authorization") === `Basic ${btoa("v1:p")}`
  if (!isAllowed) return new Response(null, { status: 401 })
  if (path === "/v2/_catalog") return Response.json({ repositories: catalogOf(state) })
  if (path === "/v2/gc/layers") return new Response(null)
  const [, image = "", tag = ""] = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(path) ?? []
  const digest = state.images.get(`${image}:${tag}`)
  if (digest === undefined) return new Response(null, { status: 404 })
  if (request.method === "DELETE") {
    state.calls.push("DELETE image")
    state.images.delete(`${image}:${tag}`)
  }
  return new Response(null, { headers: { "docker-content-digest": digest } })
}

function push({ images }: CloudflareState, reference: string): Response {
  const [name = "", digest = ""] = reference.split("@")
  images.set(name.replace("registry.cloudflare.com/", ""), digest)
  return new Response(null)
}

function catalogOf({ images }: CloudflareState): Record<string, string[]> {
  const repositories: Record<string, string[]> = {}
  for (const image of images.keys()) {
    const [name = "", tag = ""] = image.split(":")
    repositories[name] = [...(repositories[name] ?? []), tag]
  }
  return repositories
}
