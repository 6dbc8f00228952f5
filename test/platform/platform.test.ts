import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { skipNote } from "../support/speech.ts"
import { widely } from "../support/wide.ts"
import { FLOWS, LACK_OF_SPEECH } from "./flows.ts"
import { startRig } from "./rig.ts"
import type { Rig } from "./rig.ts"
import { ALL_SWITCHES } from "./switches.ts"
import type { Switch } from "./switches.ts"

const FLOW_MS_MAX = 600_000

/** Which switches are on; `npm run test:platform` has each of them alone, too. */
const CASES = widely<[string, Switch[]]>(
  [["all of the platform's behaviour", ALL_SWITCHES]],
  [["none of it", []], ...ALL_SWITCHES.map((name): [string, Switch[]] => [name, [name]])],
)

/** What is done; `npm run test:platform` does all. */
const { upload, command, fetching, ...others } = FLOWS
const KINDS = widely(Object.entries({ upload, command, fetching }), Object.entries(others))

/** What shows that the work met a switch; the others bound what the work may do. */
const MET: Partial<Record<Switch, RegExp>> = {
  "unmeasured-bodies": /^without a length: PUT /,
  "slow-starts": /a start of \d+ ms/,
  "refused-starts": /no container instance/,
  "early-sigterm": /early-sigterm$/,
  "stalled-transfers": /^stalled: /,
  "slow-transfers": /^slow: PUT /,
  "bare-restarts": /without its environment it ended/,
}

describe.for(CASES)("the service with %s", ([, names]) => {
  const switches = new Set(names)
  let rig: Rig

  beforeAll(async () => {
    rig = await startRig(switches)
  })

  afterAll(async () => await rig[Symbol.asyncDispose]())

  for (const [name, flow] of KINDS) {
    const lack = name === "transcribe" ? LACK_OF_SPEECH : null
    it.skipIf(lack !== null)(
      `does ${name}${skipNote(lack)}`,
      async () => {
        const call = await rig.openAccount(name)
        const webhook = `${rig.receiver.origin}/${name}`
        await expect(flow({ rig, call, switches, webhook })).resolves.toBeUndefined()
      },
      FLOW_MS_MAX,
    )
  }

  it("has met each switch that is on", () => {
    const missed = names.filter((name) => {
      const met = MET[name]
      return met !== undefined && !rig.happened.some((what) => met.test(what))
    })
    expect(missed).toEqual([])
  })

  it("has sent each webhook once", () => {
    const paths = rig.receiver.received.map(({ path }) => path)
    expect(paths.toSorted()).toEqual([...new Set(paths)].toSorted())
    expect(paths.length).toBeGreaterThan(0)
  })
})
