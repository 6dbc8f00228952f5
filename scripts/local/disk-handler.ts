import { statfs } from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"

/** Makes the handler that tells the Worker, which cannot see it, how much room a folder's disk has. */
export function diskHandler(folder: string) {
  return async (_request: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { bavail, blocks, bsize } = await statfs(folder)
    const room = { free_bytes: bavail * bsize, total_bytes: blocks * bsize }
    answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(room))
  }
}
