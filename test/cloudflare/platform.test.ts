import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeSkipSuffix } from "../support/media/speech.ts"
import { selectCases } from "../support/wide.ts"
import { FLOWS, LACK_OF_SPEECH } from "./flows.ts"
import { startRig } from "./rig.ts"
import type { Rig } from "./rig.ts"
import { ALL_SWITCHES } from "./switches.ts"
import type { Switch } from "./switches.ts"

const FLOW_MS_MAX = 600_000

/** Which switches are on; `npm run test:platform` has each of them alone, too. */
const CASES = selectCases<[string, Switch[]]>(
  [["every behaviour of the platform", ALL_SWITCHES]],
  [
    ["no behaviour of the platform", []],
    ...ALL_SWITCHES.map((name): [string, Switch[]] => [name, [name]]),
  ],
)

/** Flows of this run; `npm run test:platform` runs all. */
const { upload, command, fetching, ...others } = FLOWS
const KINDS = selectCases(Object.entries({ upload, command, fetching }), Object.entries(others))

/** Events that prove a switch took effect; the other switches only bound the work. */
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
      `completes the flow ${name}${makeSkipSuffix(lack)}`,
      async () => {
        const call = await rig.openAccount(name)
        const webhook = `${rig.receiver.origin}/${name}`
        await expect(flow({ rig, call, switches, webhook })).resolves.toBeUndefined()
      },
      FLOW_MS_MAX,
    )
  }

  it("logs an event of each active switch", () => {
    const missed = names.filter((name) => {
      const met = MET[name]
      return met !== undefined && !rig.happened.some((what) => met.test(what))
    })
    expect(missed).toEqual([])
  })

  it("sends each webhook once", () => {
    const paths = rig.receiver.received.map(({ path }) => path)
    expect(paths.toSorted()).toEqual([...new Set(paths)].toSorted())
    expect(paths.length).toBeGreaterThan(0)
  })
})
