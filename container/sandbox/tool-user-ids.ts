import { once } from "node:events"
import { createServer } from "node:net"
import { log } from "../log.ts"

/**
 * Number of user ids that a runner claims for its tools. A task keeps its user id for some seconds
 * after its end, so a runner with many short tasks uses dozens of ids at a time. All claimed ranges
 * lie below 65,536.
 */
const USERS = 200
const RANGES_MAX = 200

/**
 * Claims the first range of user ids, from `firstUid` on, that no other runner on this machine has
 * claimed. Returns the first id of the range. Two runners with the same user ids would wait for
 * each other's processes, and their tools could send signals to each other. The claim is an
 * abstract UNIX socket, which the kernel removes when this process ends. Returns `firstUid` if the
 * claims of other runners cannot be seen, or if no range is free.
 */
export async function claimToolUserIds(firstUid: number): Promise<number> {
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
