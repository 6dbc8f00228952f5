import { startCanaryServer } from "./canary.ts"
import { FAR_NETWORK_ADDRESSES } from "./networks.ts"
import { startTestSite } from "./site.ts"
import type { SiteRequest } from "./visit.ts"

// This program runs in a simulated internet: a network namespace with the addresses
// `FAR_NETWORK_ADDRESSES`. It serves a web site and prints each event as a line of JSON.
const PORT = 80

function say(event: object): void {
  process.stdout.write(`${JSON.stringify(event)}\n`)
}

function sayRequest({ path, headers }: SiteRequest): void {
  say({ event: "request", path, to: headers.host ?? "" })
}

for (const address of [FAR_NETWORK_ADDRESSES.site, FAR_NETWORK_ADDRESSES.site6]) {
  await startTestSite({ address, port: PORT, onRequest: sayRequest })
}
for (const address of FAR_NETWORK_ADDRESSES.canaries) {
  await startCanaryServer({
    address,
    port: PORT,
    onConnection: () => say({ event: "canary", address }),
  })
}
say({ event: "ready" })
