import { connect } from "node:net"
import type { Socket } from "node:net"
import { isSystemError } from "../system-error.ts"

type Done = (error?: Error | null) => void

/**
 * Connects to a socket of this machine. Where the other side has closed, what is written is dropped
 * and what it said before can still be read: workerd answers a request whose body it does not want
 * and closes at once, and a socket that fails a write would lose that answer.
 */
export function openConnection(path: string): Socket {
  const socket = connect(path)
  const write = socket._write.bind(socket)
  const writeMany = socket._writev?.bind(socket)
  socket._write = (chunk, encoding, done) => write(chunk, encoding, unlessClosed(done))
  if (writeMany) socket._writev = (chunks, done) => writeMany(chunks, unlessClosed(done))
  return socket
}

function unlessClosed(done: Done): Done {
  return (error) => {
    const isClosed = isSystemError(error, "EPIPE") || isSystemError(error, "ECONNRESET")
    done(isClosed ? null : error)
  }
}
