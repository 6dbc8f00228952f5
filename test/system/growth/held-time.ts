import { readFileSync } from "node:fs"

/**
 * Processor time that the event loop of a workerd has used, in milliseconds: while the loop
 * computes, no other request is answered.
 */
export function loopMs(workerdPid: number): number {
  const schedule = readFileSync(`/proc/${workerdPid}/task/${workerdPid}/schedstat`, "utf8")
  return Number(schedule.split(" ", 1)[0]) / 1e6
}
