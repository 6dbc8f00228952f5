// Loaded into every Node process of a run: Cloudflare's registry of images is where its API is.
const origin = new URL(process.env["CLOUDFLARE_API_BASE_URL"] ?? "http://127.0.0.1:9").origin
const { fetch } = globalThis
globalThis.fetch = async (input, init) => {
  const url = input instanceof Request ? input.url : String(input)
  const { host, pathname, search } = new URL(url)
  if (host !== "registry.cloudflare.com") return await fetch(input, init)
  return await fetch(`${origin}${pathname}${search}`, init)
}
