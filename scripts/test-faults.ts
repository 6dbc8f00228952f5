import { parseArgs } from "node:util"
import { z } from "zod"
import { mapAtOnce } from "../container/at-once.ts"
import { GROUPS } from "../test/faults/plan.ts"
import { measureRecovery } from "../test/faults/recovery.ts"
import { runGroup } from "../test/faults/session.ts"
import { countWrong, formatTally, openTally, sumRows } from "../test/faults/tally.ts"
import { Complaint, runScript } from "./local/complaint.ts"
import { ensureSetUp } from "./setup.ts"

const ROUNDS = 4
/** Mostly they wait: for leases, for media as long as it plays, for sweeps. */
const GROUPS_AT_ONCE = 2

const values = z.object({
  times: z.coerce.number().int().positive().default(ROUNDS),
  only: z.string().optional(),
})

await runScript(async () => {
  const { times, only } = readOptions()
  await ensureSetUp()
  const startedAt = performance.now()
  const tally = openTally((text) => console.error(`  ${text}`))
  const groups = GROUPS.filter(({ name }) => only === undefined || name.includes(only))
  const signal = stopSignal()
  await mapAtOnce(groups, { limit: GROUPS_AT_ONCE, signal }, async (group) => {
    console.error(`${group.name}: ${group.cells.length} cells, ${times} rounds ...`)
    await runGroup(group, tally, { rounds: times, signal })
  })
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

/** Aborted when this process is asked to end; each service then stops once its fault is over. */
function stopSignal(): AbortSignal {
  const controller = new AbortController()
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(name, () => controller.abort(new Complaint("Stopped.")))
  }
  return controller.signal
}

function readOptions() {
  const { values: given } = parseArgs({
    options: { times: { type: "string" }, only: { type: "string" } },
  })
  const { data, success } = values.safeParse(given)
  if (!success) throw new Complaint("--times takes a whole number above 0.")
  const { only } = data
  const names = [...GROUPS.map(({ name }) => name), "recovery"]
  if (only === undefined || names.some((name) => name.includes(only))) return data
  throw new Complaint(`There is no group "${only}"; there are ${names.join(", ")}.`)
}
