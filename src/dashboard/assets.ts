import { Hono } from "hono"
import type { AppEnv } from "../api/context.ts"
import { notFoundProblem } from "../api/output/problem.ts"
import styles from "./assets/dashboard.css"
import tusScript from "tus-js-client/dist/tus.min.js"
import liveScript from "./assets/live.client.js"
import mediaStyles from "./assets/media.css"
import pageScript from "./assets/page.client.js"
import playgroundScript from "./assets/playground.client.js"
import uploadScript from "./assets/upload.client.js"

type Asset = { text: string; contentType: string }

const SCRIPT = "text/javascript; charset=utf-8"

/** Icon of the service: a workpiece between the centers of a lathe. */
const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2a52be"/><path d="M4 16h4m16 0h4M8 11v10h3c1-4 3-4 5 0s4 4 5 0h3V11h-3c-1 4-3 4-5 0s-4-4-5 0z" fill="#fff" stroke="#fff" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"/></svg>`

/** Style sheets, scripts and the icon of the dashboard by file name. */
const ASSETS = {
  "dashboard.css": { text: styles + mediaStyles, contentType: "text/css; charset=utf-8" },
  "favicon.svg": { text: favicon, contentType: "image/svg+xml" },
  "live.client.js": { text: liveScript, contentType: SCRIPT },
  "page.client.js": { text: pageScript, contentType: SCRIPT },
  "playground.client.js": { text: playgroundScript, contentType: SCRIPT },
  "tus.min.js": { text: tusScript, contentType: SCRIPT },
  "upload.client.js": { text: uploadScript, contentType: SCRIPT },
} as const satisfies Record<string, Asset>

export type AssetName = keyof typeof ASSETS

const paths = new Map<AssetName, string>()

/**
 * Returns the path of an asset. The path contains a hash of the asset's text, so that browsers may
 * cache the asset forever.
 */
export function assetPath(name: AssetName): string {
  const cached = paths.get(name)
  if (cached !== undefined) return cached
  const path = `/assets/${fingerprint(ASSETS[name].text)}/${name}`
  paths.set(name, path)
  return path
}

/** Routes that serve the assets of the dashboard. */
export const assetRoutes = new Hono<AppEnv>()

assetRoutes.get("/:fingerprint/:name", (c) => {
  const name = c.req.param("name")
  // A path with the hash of another version gets a 404 response. Otherwise, browsers would cache
  // the current text under that path forever.
  if (!isAssetName(name) || c.req.path !== assetPath(name)) throw notFoundProblem("asset")
  const { text, contentType } = ASSETS[name]
  return c.body(text, 200, {
    "content-type": contentType,
    "cache-control": "public, max-age=31536000, immutable",
  })
})

function isAssetName(name: string): name is AssetName {
  return Object.hasOwn(ASSETS, name)
}

/** Returns the FNV-1a hash of a text, which suffices to distinguish versions. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
  }
  return hash.toString(36)
}
