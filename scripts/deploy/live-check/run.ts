import { CliError } from "../../cli/cli-error.ts"
import { makeStopSignal } from "../../cli/stop-signal.ts"
import {
  requestOperatorRoute,
  createKeyAsOperator,
  deleteAccountAsOperator,
  listAccountsAsOperator,
} from "../../keys/operator.ts"
import type { OperatorAccess } from "../../keys/operator.ts"
import { z } from "zod"
import { findLikelyFailureCause } from "./causes.ts"
import {
  describeRunnerHealth,
  recordFirstHealthOfPools,
  operatorHealthSchema,
} from "./operator-health.ts"
import type { OperatorHealth, RunnerHealthByPool } from "./operator-health.ts"
import { LiveCheckStepError } from "./step-error.ts"
import { LIVE_CHECK_STEPS } from "./steps.ts"
import type { LiveCheckStepResults, LiveCheckStep } from "./steps.ts"
import pRetry from "p-retry"

/**
 * Time limit of a step, in milliseconds. Allows for the first start of a container after a
 * deployment, which waits some minutes for its image.
 */
const STEP_MS_MAX = 600_000

/**
 * Reads the URL of the media that the check fetches and looks up. Returns null if CHECK_URL is not
 * set. Throws a CliError for an invalid URL.
 */
export function parseLiveCheckUrl({ CHECK_URL: checkUrl }: NodeJS.ProcessEnv): string | null {
  if (!checkUrl) return null
  if (/^https?:$/.test(URL.parse(checkUrl)?.protocol ?? "")) return checkUrl
  throw new CliError(`CHECK_URL is "${checkUrl}": expected the URL of media, such as a video.`)
}

/**
 * Checks a service from the command line. Ctrl-C ends the check and deletes the check's account.
 */
export async function runLiveCheck(
  operator: OperatorAccess,
  checkUrl: string | null,
): Promise<void> {
  await runLiveCheckOnNewAccount({
    operator,
    checkUrl,
    signal: makeStopSignal(new CliError("The check was stopped, and its account was deleted.")),
    stepMsMax: STEP_MS_MAX,
    tell: (line) => console.log(line),
  })
}

export type LiveCheckOptions = {
  operator: OperatorAccess
  /**
   * URL of media to fetch and to look up. Without a URL, the steps for fetches and lookups count as
   * unchecked.
   */
  checkUrl: string | null
  /**
   * Signal that ends the check early when aborted. The account of the check is deleted in any case.
   */
  signal: AbortSignal
  /** Time limit of one step, in milliseconds. */
  stepMsMax: number
  /** Function that is called with each line of the report. */
  tell: (line: string) => void
}

type State = "ok" | "failed" | "unchecked"

/**
 * State of a running live check: its options, the API key of its temporary account, and the results
 * of its steps.
 */
type Check = LiveCheckOptions & {
  results: LiveCheckStepResults
  key: string
  seenRunners: RunnerHealthByPool
  states: Map<string, State>
}

const HEALTH_PATH = "/operator/health?attacks=all"

const webhookCheck = z.object({ url: z.url(), answer: z.string() })

/**
 * Checks a service by a job of each kind, on a new account that is deleted at the end. Reports each
 * step by `tell`. Throws a CliError if a step failed, and the signal's reason if the signal is
 * aborted.
 */
export async function runLiveCheckOnNewAccount(options: LiveCheckOptions): Promise<void> {
  const { operator, signal, tell } = options
  tell(`Check of ${operator.origin}: real jobs, on an account that is deleted at the end.`)
  const seenRunners: RunnerHealthByPool = new Map()
  const states = new Map<string, State>()
  {
    await using account = await openCheckAccount(operator, tell)
    const link = webhookCheck.parse(
      await requestOperatorRoute(operator, "POST", "/operator/webhook-checks"),
    )
    const results = { checkUrl: options.checkUrl, webhook: { ...link, refusal: null } }
    const check = { ...options, results, key: account.key, seenRunners, states }
    for (const step of LIVE_CHECK_STEPS) {
      signal.throwIfAborted()
      states.set(step.name, await takeStep(check, step))
    }
  }
  for (const [pool, runner] of seenRunners)
    tell(`  runner of ${pool}: ${describeRunnerHealth(runner)}`)
  conclude(states, seenRunners, tell)
}

async function takeStep(check: Check, step: LiveCheckStep): Promise<State> {
  const { results, key, operator, signal, states } = check
  const startedMs = performance.now()
  function finish(state: State, sentence: string): State {
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    check.tell(`  ${step.name.padEnd(10)} ${state}, ${seconds} s: ${sentence}`)
    return state
  }
  if (step.needs !== undefined && states.get(step.needs) !== "ok") {
    return finish("unchecked", `it needs the result of ${step.needs}`)
  }
  const untilMs = startedMs + check.stepMsMax
  try {
    const finding = await step.run({ origin: operator.origin, key, signal, untilMs }, results)
    const state =
      "summary" in finding ? finish("ok", finding.summary) : finish("unchecked", finding.unchecked)
    await readHealth(check)
    return state
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof LiveCheckStepError)) throw error
    const { message, evidence } = error
    // Counts the step as unchecked if a tool is missing, which is allowed on one machine.
    if (evidence.code === "tool_missing") return finish("unchecked", message)
    const state = finish("failed", message)
    const health = await readHealth(check)
    const cause = findLikelyFailureCause({ name: step.name, message, evidence, health })
    check.tell(`             Likely cause: ${cause ?? "unknown."}`)
    return state
  }
}

/**
 * Reads the health of the service from /operator/health. The query makes each runner test its
 * sandbox with all known attacks. Returns null if the service does not send the health.
 */
async function readHealth({ operator, seenRunners }: Check): Promise<OperatorHealth | null> {
  try {
    const health = operatorHealthSchema.parse(
      await requestOperatorRoute(operator, "GET", HEALTH_PATH),
    )
    recordFirstHealthOfPools(seenRunners, health)
    return health
  } catch (error) {
    if (error instanceof CliError || error instanceof z.ZodError) return null
    throw error
  }
}

function conclude(
  states: Map<string, State>,
  seenRunners: RunnerHealthByPool,
  tell: (line: string) => void,
): void {
  function stepsIn(state: State): string[] {
    return [...states].flatMap(([name, each]) => (each === state ? [name] : []))
  }
  const [passed, unchecked] = [stepsIn("ok"), stepsIn("unchecked")]
  const broken = [...seenRunners].filter(([, runner]) => runner?.sandbox.ok === false)
  const failed = [...stepsIn("failed"), ...broken.map(([pool]) => `the sandbox of ${pool}`)]
  const skipped = unchecked.length > 0 ? `; unchecked: ${unchecked.join(", ")}` : ""
  if (failed.length > 0) throw new CliError(`Check: ${failed.join(", ")} failed${skipped}.`)
  tell(`Check: ${passed.length} of ${states.size} steps passed${skipped}.`)
}

const HOUR_MS = 3_600_000
const PREFIX = "deployment-check-"
const NAME = new RegExp(`^${PREFIX}[0-9a-f-]{36}$`)
const DELETE_RETRIES = 3

/** Temporary account of one live check. The disposal deletes the account. */
type CheckAccount = AsyncDisposable & { key: string }

/**
 * Creates an account with a key that is valid for an hour. The disposal deletes the account. Also
 * deletes accounts that killed checks left more than an hour ago.
 */
async function openCheckAccount(
  operator: OperatorAccess,
  tell: (line: string) => void,
): Promise<CheckAccount> {
  await deleteLeftAccounts(operator)
  const name = `${PREFIX}${crypto.randomUUID()}`
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(async () => {
    if (await removeAccount(operator, name)) return
    tell(
      `The account ${name} of the check could not be deleted; its key expires within an hour. Delete it at ${operator.origin}/operate/accounts.`,
    )
  })
  const expiresAt = new Date(Date.now() + HOUR_MS).toISOString()
  const { key } = await createKeyAsOperator(operator, { account: name, expires_at: expiresAt })
  const ownedCleanup = cleanup.move()
  return { key, [Symbol.asyncDispose]: async () => await ownedCleanup.disposeAsync() }
}

async function deleteLeftAccounts(operator: OperatorAccess): Promise<void> {
  for (const { id, name, created_at: at, users } of await listAccountsAsOperator(
    operator,
    PREFIX,
  )) {
    const isLeft = NAME.test(name ?? "") && users.length === 0
    if (isLeft && Date.now() - Date.parse(at) > HOUR_MS) await deleteAccountAsOperator(operator, id)
  }
}

/** Deletes the account with this name. Returns false if the deletion fails. */
async function removeAccount(operator: OperatorAccess, name: string): Promise<boolean> {
  async function remove(): Promise<void> {
    const accounts = await listAccountsAsOperator(operator, name)
    for (const { id } of accounts.filter((each) => each.name === name)) {
      await deleteAccountAsOperator(operator, id)
    }
  }
  try {
    await pRetry(remove, { retries: DELETE_RETRIES })
    return true
  } catch {
    return false
  }
}
