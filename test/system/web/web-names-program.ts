import { startCanaryServer } from "../../support/site/canary.ts"
import { startDnsServer } from "../../support/site/dns.ts"
import { startFarNetworkSite } from "../../support/site/far-site.ts"
import { FAR_NETWORK_ADDRESSES, NEAR_NETWORK_ADDRESSES } from "../../support/site/networks.ts"
import { startService } from "../service.ts"
import { openWaysIn } from "./web-ways-in.ts"
import type { WayIn } from "./web-ways-in.ts"

// Runs between two networks: the site has a public address in the far one, and nothing leaves them.
const { site, site6, canaries } = FAR_NETWORK_ADDRESSES
const [inside = ""] = canaries
const DNS_PORT = 53
const NEAR_PORT = 8080

/** Names that lead inside, or nowhere. */
const INSIDE: Record<string, string[]> = {
  ...Object.fromEntries(canaries.map((address, index) => [`far-${index}.example`, [address]])),
  "loopback.example": ["127.0.0.1"],
  "loopback6.example": ["::1"],
  "localhost.localdomain": ["127.0.0.1"],
  "own.example": [NEAR_NETWORK_ADDRESSES.own],
  "own6.example": [NEAR_NETWORK_ADDRESSES.own6],
  "mixed.example": [site, inside],
  "mixed6.example": [site, "fd00::7"],
  "mapped.example": [`::ffff:${inside}`],
  "nobody.example": ["0.0.0.0"],
}

await using far = await startFarNetworkSite()
await using near = await startCanaryServer({ address: "::", port: NEAR_PORT })
await using server = await startDnsServer({ port: DNS_PORT })
server.names.set("site.example", [[site, site6]])
for (const [name, addresses] of Object.entries(INSIDE)) server.names.set(name, [addresses])

await using service = await startService({ RUNNER_CAPACITY: "4" })
const waysIn = openWaysIn(service.origin, await service.makeKey("names"))

async function endOf(way: WayIn, url: string): Promise<string> {
  return (await waysIn[way](url)).code ?? "success"
}

/** A name that is public when it is asked for the first time, and leads inside from then on. */
function rebind(name: string): string {
  server.names.set(name, [[site], [inside]])
  return name
}

const outside = await Promise.all([
  endOf("fetch", "http://site.example/page/video"),
  endOf("file", "http://site.example/media/clip.mp4"),
  endOf("metadata", "http://site.example/page/json-ld"),
])
const named = await Promise.all([
  ...Object.keys(INSIDE).flatMap((name) => [
    endOf("file", `http://${name}/clip.mp4`),
    endOf("file", `http://${name}:${NEAR_PORT}/clip.mp4`),
  ]),
  endOf("fetch", "http://mixed.example/clip.mp4"),
  endOf("metadata", "http://mixed6.example/clip.mp4"),
])
const led = await Promise.all([
  endOf("fetch", `http://${rebind("first.example")}/page/video`),
  endOf("fetch", `http://${rebind("second.example")}/media/hls/master.m3u8`),
  endOf("file", `http://${rebind("third.example")}/redirect/chain/1`),
  endOf("file", "http://site.example/toward/redirect.mp4?to=http://far-0.example/"),
  endOf("fetch", `http://site.example/toward/video.html?to=http://own.example:${NEAR_PORT}/a.mp4`),
])
const reached = [...far.reached, ...near.heard]
// Shows that the canaries would have heard the others.
await fetch("http://far-0.example/direct")
await fetch(`http://own.example:${NEAR_PORT}/direct`)
const control = [far.reached.length, near.connections()]
console.log(JSON.stringify({ outside, named: [...new Set(named)], led, reached, control }))
