/**
 * Cloudflare's names of token permissions (each of the type Edit), and a pattern of the API paths
 * below `/accounts/<id>` that need the permission.
 */
const RIGHTS = [
  ["Workers Scripts", /^\/workers\//],
  ["D1", /^\/d1\//],
  ["Workers R2 Storage", /^\/r2\//],
  ["Queues", /^\/queues\b/],
  ["Containers", /^\/containers\//],
] as const

/**
 * Pattern of a wrangler message that contains a refused path and one of Cloudflare's error codes
 * for missing permissions.
 */
const REFUSED_BY_WRANGLER =
  /\/accounts\/[^/\s]+(\/[^\s)]+)\) failed[\s\S]*\[code: (?:10000|9109|1000)\]/

/**
 * Returns a sentence about the permission that a path below an account needs. Returns an empty text
 * for an unknown path.
 */
export function describeNeededCloudflareRight(path: string): string {
  const right = RIGHTS.find(([, paths]) => paths.test(path))
  if (!right) return ""
  return ` A token needs the right to edit ${right[0]} for that; docs/operate/deploy.md lists all rights.`
}

/** Returns a sentence about the permission for the path that wrangler's output names as refused. */
export function describeRightNeededByWrangler(output: string): string {
  const path = REFUSED_BY_WRANGLER.exec(output)?.[1]
  return path === undefined ? "" : `\n${describeNeededCloudflareRight(path).trim()}`
}
