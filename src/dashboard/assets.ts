import { Hono } from "hono"
import type { App } from "../http/request.ts"
import { notFound } from "../http/problem.ts"
import styles from "./assets/dashboard.css"
import { favicon } from "./assets/favicon.ts"
import liveScript from "./assets/live.client.js"
import mediaStyles from "./assets/media.css"
import pageScript from "./assets/page.client.js"
import playgroundScript from "./assets/playground.client.js"
import uploadScript from "./assets/upload.client.js"

type Asset = { text: string; contentType: string }

const SCRIPT = "text/javascript; charset=utf-8"

/** What pages of the dashboard load, by name. */
const ASSETS = {
  "dashboard.css": { text: styles + mediaStyles, contentType: "text/css; charset=utf-8" },
  "favicon.svg": { text: favicon, contentType: "image/svg+xml" },
  "live.client.js": { text: liveScript, contentType: SCRIPT },
  "page.client.js": { text: pageScript, contentType: SCRIPT },
  "playground.client.js": { text: playgroundScript, contentType: SCRIPT },
  "upload.client.js": { text: uploadScript, contentType: SCRIPT },
} as const satisfies Record<string, Asset>

export type AssetName = keyof typeof ASSETS

const paths = new Map<AssetName, string>()

/** The address of an asset, which changes with its text so that browsers may keep it. */
export function assetPath(name: AssetName): string {
  const known = paths.get(name)
  if (known !== undefined) return known
  const path = `/assets/${fingerprint(ASSETS[name].text)}/${name}`
  paths.set(name, path)
  return path
}

export const assets = new Hono<App>()

assets.get("/:fingerprint/:name", (c) => {
  const name = c.req.param("name")
  // Text of another version at this address would be kept for as long as this one.
  if (!isAssetName(name) || c.req.path !== assetPath(name)) throw notFound("asset")
  const { text, contentType } = ASSETS[name]
  return c.body(text, 200, {
    "content-type": contentType,
    "cache-control": "public, max-age=31536000, immutable",
  })
})

function isAssetName(name: string): name is AssetName {
  return Object.hasOwn(ASSETS, name)
}

/** FNV-1a, which is enough to tell versions of a text apart. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
  }
  return hash.toString(36)
}
