import { once } from "node:events"
import { createServer } from "node:net"
import { parentPort, workerData } from "node:worker_threads"
import { z } from "zod"

// This thread opens a listening socket without accepting connections. Node.js accepts connections
// in the event loop that opened the socket. The thread therefore reports the socket's file
// descriptor and then blocks its own event loop forever.

/** Maximum number of connections that wait at the socket. The kernel may allow fewer. */
const BACKLOG = 511

const { host, port } = z.object({ host: z.string(), port: z.number() }).parse(workerData)
const server = createServer()
await once(server.listen({ host, port, backlog: BACKLOG }), "listening")
const { fd } = z.object({ fd: z.int() }).parse(Reflect.get(server, "_handle"))
parentPort?.postMessage(fd)
Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0)
