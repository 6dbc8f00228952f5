import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { directoryOf } from "../../src/storage/database.ts"
import { countTry, removeOldTries } from "../../src/storage/sign-in-tries.ts"

const RULE = { triesMax: 3, windowMs: 60_000 }
const NOW = 1_790_000_000_000

const database = directoryOf(env)
let networks = 0

function newNetwork(): string {
  networks += 1
  return `2001:db8:0:${networks}::/64`
}

function tryAt(network: string, now: number, path = "/sign-in/email") {
  return countTry(database, { network, path, now }, RULE)
}

async function tryOften(network: string, now: number, times: number, path?: string) {
  const answers: (number | null)[] = []
  for (let at = 0; at < times; at += 1) answers.push(await tryAt(network, now, path))
  return answers
}

async function countRows(network: string) {
  const query = "select count(*) as n from sign_in_tries where network = ?"
  return await env.DB.prepare(query).bind(network).first<number>("n")
}

it("tries of a network are allowed as often as the rule says, and then told when its window ends", async () => {
  const network = newNetwork()
  expect(await tryOften(network, NOW, 3)).toEqual([null, null, null])
  expect(await tryOften(network, NOW + 30_000, 2)).toEqual([NOW + 60_000, NOW + 60_000])
  expect(await tryOften(network, NOW + 59_999, 1)).toEqual([NOW + 60_000])
  expect(await tryOften(network, NOW + 60_000, 4)).toEqual([null, null, null, NOW + 120_000])
})

it("tries count by path, and a network has one row for all of them", async () => {
  const network = newNetwork()
  expect(await tryOften(network, NOW, 4)).toEqual([null, null, null, NOW + 60_000])
  expect(await tryOften(network, NOW, 1, "/sign-up/email")).toEqual([null])
  expect(await tryOften(newNetwork(), NOW, 1)).toEqual([null])
  expect(await countRows(network)).toBe(1)
})

it("tries of a time ahead, from which the clock was set back, do not shut a network", async () => {
  const network = newNetwork()
  await tryOften(network, NOW + 3_600_000, 3)
  expect(await tryOften(network, NOW, 4)).toEqual([null, null, null, NOW + 60_000])
})

it("tries of long ago are removed, and those of now are not", async () => {
  const [old, recent] = [newNetwork(), newNetwork()]
  await tryAt(old, NOW)
  await tryAt(recent, NOW + 1)
  await removeOldTries(database, NOW + 1)
  expect([await countRows(old), await countRows(recent)]).toEqual([0, 1])
})
