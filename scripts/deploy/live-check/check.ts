import { z } from "zod"
import { askOperator } from "../../keys/operator.ts"
import type { Operator } from "../../keys/operator.ts"
import { CliError } from "../../local/cli-error.ts"
import { openCheckAccount } from "./account.ts"
import { findCause } from "./causes.ts"
import { describeRunner, noteRunners, operatorHealth } from "./operator-health.ts"
import type { OperatorHealth, SeenRunners } from "./operator-health.ts"
import { StepError } from "./step-error.ts"
import { STEPS } from "./steps.ts"
import type { Made, Step } from "./steps.ts"

export type CheckOptions = {
  operator: Operator
  /** Media to fetch and to look up; null: both are left unchecked. */
  checkUrl: string | null
  /** Ends the check early; its account is deleted all the same. */
  signal: AbortSignal
  /** How long one step may last, in milliseconds: the first containers take minutes. */
  stepMsMax: number
  /** Is told each line of the report. */
  tell: (line: string) => void
}

type State = "ok" | "failed" | "unchecked"

/** One check under way. */
type Check = CheckOptions & {
  made: Made
  key: string
  seen: SeenRunners
  states: Map<string, State>
}

const HEALTH_PATH = "/operator/health?attacks=all"

const webhookCheck = z.object({ url: z.url(), answer: z.string() })

/**
 * Has a service do a job of each kind on an account of its own, and tells of each step. Throws a CliError
 * where a step failed, or the signal's reason.
 */
export async function checkService(options: CheckOptions): Promise<void> {
  const { operator, signal, tell } = options
  tell(`Check of ${operator.origin}: real jobs, on an account that is deleted at the end.`)
  const seen: SeenRunners = new Map()
  const states = new Map<string, State>()
  {
    await using account = await openCheckAccount(operator, tell)
    const link = webhookCheck.parse(await askOperator(operator, "POST", "/operator/webhook-checks"))
    const made = { checkUrl: options.checkUrl, webhook: { ...link, refusal: null } }
    const check = { ...options, made, key: account.key, seen, states }
    for (const step of STEPS) {
      signal.throwIfAborted()
      states.set(step.name, await takeStep(check, step))
    }
  }
  for (const [pool, runner] of seen) tell(`  runner of ${pool}: ${describeRunner(runner)}`)
  conclude(states, seen, tell)
}

async function takeStep(check: Check, step: Step): Promise<State> {
  const { made, key, operator, signal, states } = check
  const startedMs = performance.now()
  function finish(state: State, sentence: string): State {
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    check.tell(`  ${step.name.padEnd(10)} ${state}, ${seconds} s: ${sentence}`)
    return state
  }
  if (step.needs !== undefined && states.get(step.needs) !== "ok") {
    return finish("unchecked", `it needs what ${step.needs} was to make`)
  }
  const untilMs = startedMs + check.stepMsMax
  try {
    const found = await step.run({ origin: operator.origin, key, signal, untilMs }, made)
    const state = "said" in found ? finish("ok", found.said) : finish("unchecked", found.unchecked)
    await readHealth(check)
    return state
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof StepError)) throw error
    const { message, evidence } = error
    // On one machine a tool may be left out; the image of the containers has them all.
    if (evidence.code === "tool_missing") return finish("unchecked", message)
    const state = finish("failed", message)
    const cause = findCause({ name: step.name, message, evidence, health: await readHealth(check) })
    check.tell(`             It looks like ${cause ?? "nothing that is known of the platform."}`)
    return state
  }
}

/** How the service is now, after all attacks on the sandboxes of its runners; null where it does not say it. */
async function readHealth({ operator, seen }: Check): Promise<OperatorHealth | null> {
  try {
    const health = operatorHealth.parse(await askOperator(operator, "GET", HEALTH_PATH))
    noteRunners(seen, health)
    return health
  } catch (error) {
    if (error instanceof CliError || error instanceof z.ZodError) return null
    throw error
  }
}

function conclude(
  states: Map<string, State>,
  seen: SeenRunners,
  tell: (line: string) => void,
): void {
  function named(state: State): string[] {
    return [...states].flatMap(([name, each]) => (each === state ? [name] : []))
  }
  const [passed, unchecked] = [named("ok"), named("unchecked")]
  const broken = [...seen].filter(([, runner]) => runner?.sandbox.ok === false)
  const failed = [...named("failed"), ...broken.map(([pool]) => `the sandbox of ${pool}`)]
  const left = unchecked.length > 0 ? `; unchecked: ${unchecked.join(", ")}` : ""
  if (failed.length > 0) throw new CliError(`Check: ${failed.join(", ")} failed${left}.`)
  tell(`Check: ${passed.length} of ${states.size} steps passed${left}.`)
}
