import { expect, it } from "vitest"
import { z } from "zod"
import { startTestSite } from "../../support/site/site.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const stored = z.looseObject({ id: z.string(), status: z.string() })

/** Calls of an account, with JSON answers. */
async function openAccount(service: TestService, name: string) {
  const key = await service.makeKey(name, "paid")
  return async (path: string, body?: object): Promise<Response> =>
    await fetch(`${service.origin}/v1${path}`, {
      method: body ? "POST" : "GET",
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    })
}

it("answers lookups while endless imports hold every slot for fetches", async () => {
  await using site = await startTestSite()
  await using service = await startService({
    RUNNER_CAPACITY: "2",
    ALLOWED_PRIVATE_HOSTS: site.host,
  })
  const holder = await openAccount(service, "holder")
  const other = await openAccount(service, "other")
  const imports = await Promise.all(
    ["one", "two"].map(async (name) => {
      const file_url = site.url(`/bytes/${name}.bin?size=endless&rate=5000`)
      return stored.parse(await (await holder("/files", { file_url })).json())
    }),
  )
  function held(): number {
    return site.requests.filter(({ path }) => path.startsWith("/bytes/")).length
  }
  await expect.poll(held, { timeout: 20_000 }).toBe(2)
  for (const [name, account] of Object.entries({ holder, other })) {
    const url = site.url(`/page/video?title=${name}`)
    const answer = await account("/fetch/metadata", { url })
    expect([answer.status, await answer.json()]).toMatchObject([200, { title: name }])
  }
  for (const { id } of imports) {
    expect(stored.parse(await (await holder(`/files/${id}`)).json()).status).toBe("running")
  }
})
