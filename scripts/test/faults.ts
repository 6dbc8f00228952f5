import { parseArgs } from "node:util"
import pMap from "p-map"
import { z } from "zod"
import { GROUPS } from "../../test/faults/plan.ts"
import type { Group } from "../../test/faults/cell.ts"
import { measureRecovery } from "../../test/faults/recovery.ts"
import { runGroup } from "../../test/faults/session.ts"
import { countWrong, formatTally, openTally, sumRows } from "../../test/faults/tally.ts"
import { CliError, runScript } from "../cli/cli-error.ts"
import { makeStopSignal } from "../cli/stop-signal.ts"
import { ensureSetUp } from "../setup/main.ts"
import { fliteStep } from "../setup/test-tools.ts"
import { runOptionalSetupStep } from "../setup/step.ts"

const ROUNDS = 4
/**
 * Number of groups of fault tests that run concurrently. The number may exceed that of the cores,
 * because the tests mostly wait for leases, real-time encodes and sweeps.
 */
const GROUPS_AT_ONCE = 2

const values = z.object({
  times: z.coerce.number().int().positive().default(ROUNDS),
  only: z.string().optional(),
})

await runScript(async () => {
  const { times, only } = readOptions()
  await ensureSetUp()
  await runOptionalSetupStep(fliteStep, "The groups that need speech are skipped.")
  const startedAt = performance.now()
  const tally = openTally((text) => console.error(`  ${text}`))
  const groups = GROUPS.filter(({ name }) => only === undefined || name.includes(only))
  const stopped = makeStopSignal(new CliError("Stopped."))
  // If a group of tests fails, the other groups stop before they cause their next fault, and then
  // stop their services.
  const failure = new AbortController()
  const signal = AbortSignal.any([stopped, failure.signal])
  async function run(group: Group): Promise<void> {
    if (signal.aborted) return
    console.error(`${group.name}: ${group.cells.length} cells, ${times} rounds ...`)
    await runGroup(group, tally, { rounds: times, signal }).catch((error: unknown) =>
      failure.abort(error),
    )
  }
  await pMap(groups, run, { concurrency: GROUPS_AT_ONCE })
  signal.throwIfAborted()
  const measured = only === undefined || only === "recovery" ? await measureRecovery() : null
  if (tally.rows().length > 0) console.log(formatTally(tally))
  for (const line of measured?.lines ?? []) console.log(line)
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
  const sum = sumRows(tally.rows())
  console.log(
    `${sum.times} faults in ${minutes} minutes: ${sum.lost} jobs lost, ${sum.doubled} doubled, ` +
      `${sum.left} things left over.`,
  )
  if (countWrong(sum) > 0 || measured?.areMet === false) process.exitCode = 1
})
process.exit()

function readOptions() {
  const { values: options } = parseArgs({
    options: { times: { type: "string" }, only: { type: "string" } },
  })
  const { data, success } = values.safeParse(options)
  if (!success) throw new CliError("--times takes a whole number above 0.")
  const { only } = data
  const names = [...GROUPS.map(({ name }) => name), "recovery"]
  if (only === undefined || names.some((name) => name.includes(only))) return data
  throw new CliError(`There is no group "${only}"; there are ${names.join(", ")}.`)
}
