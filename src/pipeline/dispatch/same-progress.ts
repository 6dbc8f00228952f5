import type { Progress } from "../../rpc.ts"

/** Whether two looks at a job show it as far; how long the rest takes does not count. */
export function isSameProgress(one: Progress | null, other: Progress | null): boolean {
  return marksOf(one) === marksOf(other)
}

function marksOf(progress: Progress | null): string {
  const { frame, time_seconds, speed, size_bytes } = progress?.detail ?? {}
  return [progress?.percent ?? 0, frame, time_seconds, speed, size_bytes].join(" ")
}
