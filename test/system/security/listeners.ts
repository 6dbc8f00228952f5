import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { processesBelow } from "../../faults/processes.ts"

/** State of a socket that listens, as /proc/net/tcp has it. */
const LISTENS = "0A"

/** The TCP ports that a process and all below it listen on. */
export function listeningPorts(pid: number): number[] {
  const sockets = new Set([pid, ...processesBelow(pid)].flatMap(socketsOf))
  const rows = ["tcp", "tcp6"].flatMap((name) =>
    readFileSync(`/proc/${pid}/net/${name}`, "utf8").split("\n").slice(1),
  )
  return rows.flatMap((row) => {
    const [, local = "", , state, , , , , , inode = ""] = row.trim().split(/\s+/)
    const port = Number.parseInt(local.split(":")[1] ?? "", 16)
    return state === LISTENS && sockets.has(inode) ? [port] : []
  })
}

/** The inodes of the sockets that a process has open. */
function socketsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
    } catch {
      return []
    }
  })
}
