import { beforeAll, expect, it } from "vitest"
import { fetchOperatorRoute, makeCaller } from "../../../support/caller.ts"

type Key = { id: string; account: string; plan: string }

const made: string[] = []

beforeAll(async () => {
  for (let index = 0; index < 5; index += 1) made.unshift((await makeCaller(`keys ${index}`)).id)
})

async function read(path: string): Promise<{ ids: string[]; next: string | null }> {
  const answer = await fetchOperatorRoute(path)
  expect(answer.status).toBe(200)
  const keys = await answer.json<Key[]>()
  const next = /<https:\/\/lathe\.test\/operator([^>]+)>; rel="next"/.exec(
    answer.headers.get("link") ?? "",
  )
  return { ids: keys.map(({ id }) => id), next: next?.[1] ?? null }
}

it("keys of all accounts are listed newest first, in pages", async () => {
  const first = await read("/keys?limit=2")
  expect(first.ids).toEqual(made.slice(0, 2))
  await makeCaller("a later one")
  const second = await read(first.next ?? "")
  expect(second.ids).toEqual(made.slice(2, 4))
  const last = await read(second.next ?? "")
  expect([last.ids, last.next]).toEqual([made.slice(4), null])
  expect((await read("/keys")).ids).toHaveLength(6)
})

it.each(["limit=0", "limit=1001", "limit=x", "offset=1"])("refuses %s", async (query) => {
  expect((await fetchOperatorRoute(`/keys?${query}`)).status).toBe(422)
})
