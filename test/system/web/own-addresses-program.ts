import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { startService } from "../service.ts"

// Runs in a network of its own, whose loopback interface has this public address: nothing leaves
// it.
const OWN = "93.184.216.34"
/** Added while the service runs. */
const LATER = "93.184.216.35"
/** On an interface without a link, which Node does not list. */
const UNLINKED = "93.184.216.36"

const delivery = z.object({
  id: z.string(),
  tries: z.array(z.object({ status: z.number().nullable(), error: z.string().optional() })),
})

const heard: string[] = []
const port = await listen()
const allowedPort = await listen()
await using service = await startService({ ALLOWED_PRIVATE_HOSTS: `${OWN}:${allowedPort}` })
const key = await service.makeKey("one")
addAddress(LATER, "lo")
addAddress(UNLINKED, "unlinked")

const said: Record<string, unknown> = {}
said["own"] = await deliver(`http://${OWN}:${port}/own`)
said["later"] = await deliver(`http://${LATER}:${port}/later`)
said["unlinked"] = await deliver(`http://${UNLINKED}:${port}/unlinked`)
said["allowed"] = await deliver(`http://${OWN}:${allowedPort}/allowed`)
// Shows that the receiver would have heard the others.
await fetch(`http://${UNLINKED}:${port}/direct`)
console.log(JSON.stringify({ said, heard }))

async function listen(): Promise<number> {
  const server = createServer((request, response) => {
    heard.push(request.url ?? "")
    response.end()
  })
  server.listen(0, "0.0.0.0").unref()
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port")
  return address.port
}

function addAddress(address: string, device: string): void {
  if (device !== "lo") execFileSync("ip", ["link", "add", device, "type", "bridge"])
  execFileSync("ip", ["link", "set", device, "up"])
  execFileSync("ip", ["address", "add", `${address}/32`, "dev", device])
}

/** The first try of a webhook to a URL. */
async function deliver(url: string): Promise<unknown> {
  const { id } = delivery.parse(await ask("POST", "/webhooks/test", { url }))
  for (;;) {
    const { tries } = delivery.parse(await ask("GET", `/webhooks/deliveries/${id}`))
    if (tries[0]) return tries[0].error ?? tries[0].status
    await sleep(20)
  }
}

async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(`${service.origin}/v1${path}`, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return await answer.json()
}
