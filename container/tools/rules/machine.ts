import type { ExplainRule } from "./rule.ts"

/** Rules for resources that the machine, or the sandbox, lacks. */
export const MACHINE_RULES: readonly ExplainRule[] = [
  {
    code: "disk_full",
    blame: "ours",
    pattern: /No space left on device|Disk quota exceeded/,
    sentence: () => "There was no space left on the disk.",
  },
  {
    code: "out_of_memory",
    pattern: /Cannot allocate memory|malloc of size \d+ failed/,
    sentence: () => "The command needs more memory than there is.",
  },
  {
    code: "process_limit",
    pattern: /pthread_create\S* failed|Resource temporarily unavailable/,
    sentence: () => "The command needs more threads than it may have.",
  },
]
