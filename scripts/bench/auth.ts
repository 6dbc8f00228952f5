import type { Caller } from "./caller.ts"
import { formatDifference, formatMs, formatRatio } from "./figure.ts"
import type { Figure } from "./figure.ts"
import type { BenchScope } from "./scope.ts"
import { startBenchService } from "./service.ts"
import { compareMedians, timeMs } from "./statistics.ts"

const ROUNDS = { warmUp: 100, counted: 1000 }
const ADDED_MS_MAX = 3

const LIMIT = 1000
const CALLERS = 64
const REQUESTS = 3 * LIMIT
const WINDOW_MS = 60_000

/**
 * A path that no route has is answered alike with a key and without: what differs is who is asked
 * for a key, which is all below /v1.
 */
const KEYED_PATH = "/v1/nothing-is-here"
const OPEN_PATH = "/nothing-is-here"

/** What authentication and the limit of requests cost, and whether that limit is exact. */
export async function benchAuth(scope: BenchScope): Promise<Figure[]> {
  const added = await measureAdded(scope)
  return [added, await measureLimit(scope)]
}

async function measureAdded(scope: BenchScope): Promise<Figure> {
  const service = await startBenchService(scope)
  const { caller } = service
  const { measured, reference } = await compareMedians(
    ROUNDS,
    () => timeMs(() => ask(caller, KEYED_PATH, 404)),
    () => timeMs(() => ask(caller, OPEN_PATH, 404)),
  )
  await service.stop()
  return {
    name: "auth: time that a key and its limit add to a GET, warm key, p50",
    measured: formatMs(measured),
    reference: `${formatMs(reference)} the same answer without`,
    comparison: formatDifference(measured - reference, formatMs),
    goal: `<= +${ADDED_MS_MAX} ms`,
    isMet: measured - reference <= ADDED_MS_MAX,
  }
}

async function measureLimit(scope: BenchScope): Promise<Figure> {
  const settings = { PAID_REQUESTS_PER_MINUTE: String(LIMIT) }
  const { caller } = await startBenchService(scope, { settings })
  let [begun, through] = [0, 0]
  async function askInTurn(): Promise<void> {
    while (begun < REQUESTS) {
      begun += 1
      if ((await ask(caller, KEYED_PATH, 404, 429)) === 404) through += 1
    }
  }
  const elapsedMs = await timeMs(() => Promise.all(Array.from({ length: CALLERS }, askInTurn)))
  if (elapsedMs > WINDOW_MS) throw new Error("the machine is too slow: a minute began meanwhile")
  return {
    name: `auth: requests let through, ${CALLERS} callers`,
    measured: `${through} of ${REQUESTS}`,
    reference: `${LIMIT} allowed`,
    comparison: formatRatio(through / LIMIT),
    goal: "1.00 x",
    isMet: through === LIMIT,
  }
}

/** The status of an answer, read to its end; throws where it is none of those that may be. */
async function ask(caller: Caller, path: string, ...expected: number[]): Promise<number> {
  const answer = await caller.open(path)
  const status = answer.statusCode ?? 0
  for await (const _ of answer) continue
  if (!expected.includes(status)) throw new Error(`GET ${path} was answered ${status}`)
  return status
}
