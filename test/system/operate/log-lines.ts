import { z } from "zod"
import type { TestService } from "../service.ts"

const entry = z.looseObject({
  time: z.iso.datetime(),
  level: z.enum(["debug", "info", "warn", "error"]),
  event: z.string(),
  part: z.enum(["worker", "runner", "start"]),
})

export type Entry = z.infer<typeof entry>

/** All that a service has printed, on both of its streams, and prints from now on. */
export type Printed = {
  lines: string[]
  /** The entries of the log; throws where a line looks like one and is none. */
  entries(): Entry[]
}

/** Collects what a service prints; its first lines are there as long as they are among its last. */
export function collectLines(service: TestService): Printed {
  const { stdout, stderr } = service.tail()
  const lines = [...stdout.split("\n"), ...stderr.split("\n")].filter((line) => line !== "")
  service.onLine((line) => void lines.push(line))
  service.onErrorLine((line) => void lines.push(line))
  function entries(): Entry[] {
    return lines.filter((line) => line.startsWith("{")).map((line) => entry.parse(JSON.parse(line)))
  }
  return { lines, entries }
}
