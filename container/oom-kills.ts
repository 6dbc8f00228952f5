import { readFile } from "node:fs/promises"

/** How often the machine ended a process for want of memory since it came up; 0 if it hides that. */
export async function readOomKills(): Promise<number> {
  const text = await readFile("/proc/vmstat", "utf8").catch(() => "")
  return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0)
}
