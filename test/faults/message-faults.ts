import { setTimeout as sleep } from "node:timers/promises"
import type { Bed } from "./bed.ts"
import { say } from "./proxy.ts"
import type { Answer, Passing, Rule } from "./proxy.ts"

const DELAY_MS = 3000
const AFTER_MS = 1500
const REFUSALS = 2

/** Each makes a rule that drops, delays, repeats or refuses messages of every job. */
export const MESSAGE_FAULTS: Record<string, () => Rule> = {
  /** The first report of each end never arrives. */
  "drop reports": () => onFirst(isEnding, async () => "cut"),
  /** It arrives, but the runner does not hear so. */
  "drop answers": () =>
    onFirst(isEnding, async (passing) => {
      await passing.forward()
      return "cut"
    }),
  "delay reports": () => onFirst(isReport, delay),
  /** Each report arrives twice at once, and once more later. */
  "double reports": () => (passing) => (isReport(passing) ? forwardThrice(passing) : null),
  /** Delivers the report of the start after the report of the end. */
  "reorder reports": reorder,
  "500 to reports": () => refuseFirst(isReport),
  "500 to inputs": () => refuseFirst(({ call }) => call === "inputs"),
  "500 to outputs": () => refuseFirst(({ call }) => call === "outputs"),
}

/** How long a runner refuses tasks: longer than a call to it may take. */
const REFUSED_MS = 12_000

/** Each makes a rule for a runner that takes no task, or does not say that it did. */
export const REFUSALS_OF_TASKS: Record<string, () => Rule> = {
  "runner busy 12 s": () => onTasks(async () => say(409)),
  "runner leaving 12 s": () => onTasks(async () => say(503)),
  "runner silent 12 s": () =>
    onTasks(async () => {
      await sleep(REFUSED_MS)
      return "cut"
    }),
  /** It takes each task, and nobody hears so. */
  "drop acceptances 12 s": () =>
    onTasks(async (passing) => {
      await passing.forward()
      return "cut"
    }),
}

/** Has the runner refuse tasks for a while. */
export function refuseTasks(bed: Bed, rule: Rule): void {
  const added = bed.runnerProxy.addRule(rule)
  void sleep(REFUSED_MS).then(() => added.remove())
}

function onTasks(act: (passing: Passing) => Promise<Answer | "cut">): Rule {
  return (passing) => (passing.call === "/tasks" ? act(passing) : null)
}

function isReport({ call }: Passing): boolean {
  return call.startsWith("reports")
}

function isEnding({ call }: Passing): boolean {
  return call === "reports finished" || call === "reports failed"
}

/** Does something to the first call of each kind of each job. */
function onFirst(
  fits: (passing: Passing) => boolean,
  act: (passing: Passing) => Promise<Answer | "cut">,
  times = 1,
): Rule {
  const counts = new Map<string, number>()
  return (passing) => {
    const name = `${passing.jobId} ${passing.call}`
    const count = counts.get(name) ?? 0
    if (!fits(passing) || count >= times) return null
    counts.set(name, count + 1)
    return act(passing)
  }
}

function refuseFirst(fits: (passing: Passing) => boolean): Rule {
  return onFirst(fits, async () => say(500), REFUSALS)
}

async function delay(passing: Passing): Promise<Answer | "cut"> {
  await sleep(DELAY_MS)
  return (await passing.forward()) ?? "cut"
}

async function forwardThrice(passing: Passing): Promise<Answer | "cut"> {
  const [answer] = await Promise.all([passing.forward(), passing.forward()])
  void sleep(AFTER_MS).then(() => passing.forward())
  return answer ?? "cut"
}

function reorder(): Rule {
  const ended = new Map<string, PromiseWithResolvers<void>>()
  function endOf(jobId: string): PromiseWithResolvers<void> {
    const end = ended.get(jobId) ?? Promise.withResolvers<void>()
    ended.set(jobId, end)
    return end
  }
  return (passing) => {
    if (!isReport(passing)) return null
    if (!isEnding(passing)) return afterEnd(passing)
    return (async () => {
      const answer = await passing.forward()
      endOf(passing.jobId).resolve()
      return answer ?? "cut"
    })()
  }
  async function afterEnd(passing: Passing): Promise<Answer | "cut"> {
    // The canceled job has no such report; nobody waits longer than this.
    await Promise.race([endOf(passing.jobId).promise, sleep(DELAY_MS)])
    return (await passing.forward()) ?? "cut"
  }
}
