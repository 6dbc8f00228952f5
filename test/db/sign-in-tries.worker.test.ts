import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { openDirectory } from "../../src/db/database.ts"
import { countAuthRequestIfAllowed } from "../../src/db/accounts/sign-in-tries.ts"

const RULE = { requestsMax: 3, windowMs: 60_000 }
const NOW = 1_790_000_000_000

const database = openDirectory(env)

async function tryOften(now: number, times: number) {
  const tried = { network: "2001:db8:0:1::/64", path: "/sign-in/email", now }
  const answers: (number | null)[] = []
  for (let at = 0; at < times; at += 1)
    answers.push(await countAuthRequestIfAllowed(database, tried, RULE))
  return answers
}

it("tries in the future, from before the clock was set back, do not block a network", async () => {
  await tryOften(NOW + 3_600_000, 3)
  expect(await tryOften(NOW, 4)).toEqual([null, null, null, NOW + 60_000])
})
