import { once } from "node:events"
import { createServer } from "node:net"
import { log } from "../log.ts"

/**
 * How many user ids a runner takes for its tools: one a task, which has it some seconds longer than it
 * runs, so that a runner of many short tasks holds dozens. All ranges lie below 65,536.
 */
const USERS = 200
const RANGES_MAX = 200

/**
 * Takes the first range of user ids, from `firstUid` on, that no other runner of this machine has, for
 * as long as this process lives; answers its first id. Runners that shared ids would wait for each
 * other's processes, and their tools could signal each other. Where it cannot be told who has a range,
 * it is the first. Ranges are known by abstract sockets, which end with their process, whatever ends it.
 */
export async function claimToolUsers(firstUid: number): Promise<number> {
  for (let range = 0; range < RANGES_MAX; range += 1) {
    const start = firstUid + range * USERS
    const outcome = await claim(start)
    if (outcome === "claimed") return start
    if (outcome === "unknown") break
  }
  return firstUid
}

async function claim(start: number): Promise<"claimed" | "taken" | "unknown"> {
  if (process.platform !== "linux") return "unknown"
  const server = createServer((socket) => socket.destroy()).unref()
  try {
    server.listen({ path: `\0lathe-tool-users-${start}` })
    await once(server, "listening")
    return "claimed"
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return "taken"
    log("warn", "users.not_claimed", { first_uid: start, error: String(error) })
    return "unknown"
  }
}
