import { createServer } from "node:net"

// Listens on a port of ::1 and takes no connection: once its queue is full, the kernel drops what
// comes.

const server = createServer()
server.listen({ host: "::1", port: Number(process.argv[2]), backlog: 1 }, () => {
  process.stdout.write("listening\n", () =>
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  )
})
