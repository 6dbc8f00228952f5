import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import {
  fetchWorker,
  fetchOperatorRoute,
  makeCaller,
  uploadTestFile,
} from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { makeFetchResult, finishFetch } from "../../../support/media/fetched.ts"
import { GOLD_PLAN_LIMITS } from "../../../support/accounts/own-plan.ts"
import { readProblem } from "../../../support/problem.ts"

/** Default of LINK_SECONDS. */
const LINK_SECONDS = 300

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("lives of links")
})

/** Returns the lifetime of a link in seconds, read from its Cache-Control. */
async function lifeOf(path: string): Promise<number> {
  const redirect = await caller.call(path)
  expect(redirect.status).toBe(302)
  const media = await fetchWorker(redirect.headers.get("location") ?? "", { method: "HEAD" })
  expect(media.status).toBe(200)
  return Number(/max-age=(\d+)/.exec(media.headers.get("cache-control") ?? "")?.[1])
}

/** Uploads a file with this playing time. */
async function uploadPlaying(name: string, duration: number): Promise<string> {
  const file = await uploadTestFile(caller, name, "x")
  await env.DB.prepare("update files set probe = ? where id = ?")
    .bind(JSON.stringify(probeOf(duration)), file.id)
    .run()
  return `/files/${file.id}/${name}`
}

function probeOf(duration: number) {
  return { duration, format_name: "mp4", streams: [], format: {} }
}

/** Matches the lifetime of a link that was made up to 5 seconds ago. */
function about(seconds: number) {
  return (life: number) => life <= seconds && life > seconds - 5
}

describe("a link", () => {
  it("to other files than media is valid for LINK_SECONDS", async () => {
    const file = await uploadTestFile(caller, "a.txt", "x")
    expect(await lifeOf(`/files/${file.id}/a.txt`)).toSatisfy(about(LINK_SECONDS))
  })

  it("to media is valid for the playing time in addition, up to a day", async () => {
    expect(await lifeOf(await uploadPlaying("film.mp4", 5400.2))).toSatisfy(
      about(LINK_SECONDS + 5401),
    )
    expect(await lifeOf(await uploadPlaying("odd.mp4", 1e12))).toSatisfy(
      about(LINK_SECONDS + 86_400),
    )
    expect(await lifeOf(await uploadPlaying("turned.mp4", -5))).toSatisfy(about(LINK_SECONDS))
  })

  it("to fetched media is valid for the playing time in addition", async () => {
    const answer = await caller.post("/fetch", { url: "https://a.example/" })
    const { fetch_id: id } = await answer.json<{ fetch_id: string }>()
    const { media } = makeFetchResult()
    await finishFetch(
      caller,
      id,
      makeFetchResult([], { media: { ...media, probe: probeOf(1000) } }),
    )
    expect(await lifeOf(`/fetch/${id}/A%20clip.mp4`)).toSatisfy(about(LINK_SECONDS + 1000))
    expect(await lifeOf(`/fetch/${id}/A%20clip.mp4?expires_in=20`)).toSatisfy(about(20))
  })

  it("is valid for the requested time, even if shorter than the playing time", async () => {
    const path = await uploadPlaying("film.mp4", 5400)
    expect(await lifeOf(`${path}?expires_in=60`)).toSatisfy(about(60))
    expect(await lifeOf(`${path}?expires_in=86400&disposition=inline`)).toSatisfy(about(86_400))
  })

  it.each(["0", "-1", "1.5", "ten", "", "99999999999"])(
    "is refused if expires_in is %j",
    async (text) => {
      const file = await uploadTestFile(caller, "a.txt", "x")
      const answer = await caller.call(`/files/${file.id}/a.txt?expires_in=${text}`)
      expect(answer.status).toBe(422)
      const { details } = await answer.json<{ details: { field: string; message: string }[] }>()
      expect(details).toEqual([
        expect.objectContaining({
          field: "expires_in",
          message: "expected a whole number of seconds above 0",
        }),
      ])
    },
  )

  it("is refused with a lifetime above the plan's, which the message names", async () => {
    const file = await uploadTestFile(caller, "a.txt", "x")
    const answer = await caller.call(`/files/${file.id}/a.txt?expires_in=86401`)
    expect(answer.status).toBe(422)
    expect(await readProblem(answer)).toMatchObject({
      message: "expires_in: expected at most 86400, the link_seconds of the account's plan",
    })
  })

  it("is valid up to the limit of an operator's plan", async () => {
    const { link_seconds: _, ...without } = GOLD_PLAN_LIMITS
    for (const [name, limits] of [
      ["gold", GOLD_PLAN_LIMITS],
      ["silver", without],
    ] as const) {
      const made = await fetchOperatorRoute(`/plans/${name}`, {
        method: "PUT",
        body: JSON.stringify(limits),
      })
      expect(made.status).toBe(201)
    }
    for (const [plan, least, most] of [
      ["gold", 600, 601],
      ["silver", 604_800, 604_801],
    ] as const) {
      const account = `links of ${plan}`
      const holder = await makeCaller(account)
      await fetchOperatorRoute("/plans", { method: "PUT", body: JSON.stringify({ account, plan }) })
      await expect
        .poll(async () => (await (await holder.call("/account")).json<{ plan: string }>()).plan)
        .toBe(plan)
      const file = await uploadTestFile(holder, "a.txt", "x")
      const path = `/files/${file.id}/a.txt?expires_in=`
      expect((await holder.call(`${path}${least}`)).status).toBe(302)
      expect((await holder.call(`${path}${most}`)).status).toBe(422)
    }
  })
})
