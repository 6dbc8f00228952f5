import type { MiniflarePatch } from "./miniflare-patch.ts"

/**
 * Has Miniflare's entry worker, which listens on a port of the loopback interface, answer only who
 * knows the secret that Miniflare makes for its own calls.
 */
export const entryPatch: MiniflarePatch = {
  worker: "entry",
  path: /[\\/]core[\\/]entry\.worker\.js$/,
  edits: [
    {
      from: "  async fetch(request, env, ctx) {\n    let startTime = Date.now(),",
      to:
        "  async fetch(request, env, ctx) {\n" +
        "    if (!isOwnCall(request, env)) return new Response(null, { status: 403 });\n" +
        "    let startTime = Date.now(),",
      times: 1,
    },
  ],
  additions: `
function isOwnCall(request, env) {
  let given = Buffer.from(request.headers.get(CoreHeaders.OP_SECRET) ?? "", "hex");
  let expected = env[CoreBindings.DATA_PROXY_SECRET];
  return given.byteLength === expected.byteLength && crypto.subtle.timingSafeEqual(given, expected);
}
`,
}
