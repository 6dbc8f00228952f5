import { once } from "node:events"
import { createServer } from "node:net"
import { parentPort, workerData } from "node:worker_threads"
import { z } from "zod"

// Node accepts on each socket that listens, in the event loop that opened it. This thread opens one, names its
// descriptor and stops its loop for good: the socket stays open and accepts nothing.

/** Callers that may wait; the kernel may allow fewer. */
const BACKLOG = 511

const { host, port } = z.object({ host: z.string(), port: z.number() }).parse(workerData)
const server = createServer()
await once(server.listen({ host, port, backlog: BACKLOG }), "listening")
const { fd } = z.object({ fd: z.int() }).parse(Reflect.get(server, "_handle"))
parentPort?.postMessage(fd)
Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0)
