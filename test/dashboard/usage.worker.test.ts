import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"

test("limits are shown with their usage, and a chart shows the usage of thirty days", async () => {
  const person = await makeSignedInUser({ plan: "trial" })
  const day = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10)
  const insert = "insert into usage_days (account_id, day, key_id, requests, jobs, fetches) values"
  await env.DB.prepare(`${insert} (?, ?, '', 4321, 12, 3)`).bind(person.accountId, day).run()
  const html = await (await person.visit("/usage")).text()
  expect(html).toContain("4,321 in 30 days")
  expect(html.match(/class="chart"/g)).toHaveLength(3)
  expect(html).toMatch(/<strong>0 B<\/strong> of 100 GB/)
  expect(html).toContain("at most 5 min")
  expect(html).toContain("Dashboard")
  expect(html).toContain(person.accountId)
})

test("an account without usage gets a hint", async () => {
  const html = await (await (await makeSignedInUser()).visit("/usage")).text()
  expect(html).toContain("none in 30 days")
})
