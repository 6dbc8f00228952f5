import { z } from "zod"
import { logLine } from "../../src/contract/log-line.ts"
import { parseJson } from "./parse-json.ts"

const structured = z.object({ level: z.string(), message: z.string() })

const LEVELS = { debug: "debug", warn: "warn", error: "error" } as const

/** What workerd says of its own inside where nothing is wrong that anybody here could mend. */
const OWN_MATTERS =
  /\$LLVM_SYMBOLIZER is not set|took recursive isolate lock|CODE_MOVED for unknown code block|compile cache failed its compatibility check|does not export a connect\(\) function|Received a connect event|stack:(?: (?:0|[a-f\d]{4,})){3,}/

/** workerd's last words before it dies; what follows them is told, too. */
const CRASH = /^\*\*\* (?:std::terminate\(\)|Fatal uncaught|Received signal|Uncaught exception)/

/** Makes what passes on the lines of one workerd: the Worker's entries as they are, others as one. */
export function makeWorkerdLog(print: (line: string) => void): (line: string) => void {
  let isCrashing = false
  return (line) => {
    const { level, message } = structured.safeParse(parseJson(line)).data ?? {
      level: "info",
      message: line,
    }
    isCrashing ||= CRASH.test(message)
    if (OWN_MATTERS.test(message) && !isCrashing) return
    if (message.startsWith('{"time":')) return print(message)
    const known = isLevel(level) ? LEVELS[level] : "info"
    print(
      logLine({ part: "worker", level: isCrashing ? "error" : known, event: "said" }, { message }),
    )
  }
}

function isLevel(level: string): level is keyof typeof LEVELS {
  return level in LEVELS
}
