import { expect, test } from "vitest"
import { canCreateNetworks, runInNearNetwork } from "../../support/site/networks.ts"

const PROGRAM = "test/system/web/web-names-program.ts"
const WHY_NOT = "Networks of their own can be made by root alone, on a Linux that has them."
const REFUSED = "url_not_allowed"

test("hosts are reached at public addresses, and never at private ones", async (context) => {
  context.skip(!(await canCreateNetworks()), WHY_NOT)
  const printed = await runInNearNetwork([PROGRAM])
  expect(JSON.parse(printed.trim().split("\n").at(-1) ?? "")).toEqual({
    outside: ["success", "success", "success"],
    named: [REFUSED],
    led: [REFUSED, REFUSED, REFUSED, REFUSED, REFUSED],
    reached: [],
    control: [1, 1],
  })
})
