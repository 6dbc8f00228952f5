import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { ask, askOperator, makeCaller, upload } from "../../support/caller.ts"
import type { Caller } from "../../support/caller.ts"
import { fetchResult, finishFetch } from "../../support/fetched.ts"
import { GOLD } from "../../support/own-plan.ts"
import { readProblem } from "../../support/problem.ts"

/** LINK_SECONDS where nobody sets it. */
const LINK_SECONDS = 300

let caller: Caller

beforeAll(async () => {
  caller = await makeCaller("lives of links")
})

/** How long a link lives, in seconds, as caches are told. */
async function lifeOf(path: string): Promise<number> {
  const redirect = await caller.call(path)
  expect(redirect.status).toBe(302)
  const media = await ask(redirect.headers.get("location") ?? "", { method: "HEAD" })
  expect(media.status).toBe(200)
  return Number(/max-age=(\d+)/.exec(media.headers.get("cache-control") ?? "")?.[1])
}

/** Uploads a file that is known to play so long. */
async function uploadPlaying(name: string, duration: number): Promise<string> {
  const file = await upload(caller, name, "x")
  await env.DB.prepare("update files set probe = ? where id = ?")
    .bind(JSON.stringify(probeOf(duration)), file.id)
    .run()
  return `/files/${file.id}/${name}`
}

function probeOf(duration: number) {
  return { duration, format_name: "mp4", streams: [], format: {} }
}

/** Whether a life is that of a link that was made some seconds ago at most. */
function about(seconds: number) {
  return (life: number) => life <= seconds && life > seconds - 5
}

describe("a link", () => {
  it("to what does not play lives for LINK_SECONDS", async () => {
    const file = await upload(caller, "a.txt", "x")
    expect(await lifeOf(`/files/${file.id}/a.txt`)).toSatisfy(about(LINK_SECONDS))
  })

  it("to sound or a film lives for as long as it plays, too, and for a day beside that at most", async () => {
    expect(await lifeOf(await uploadPlaying("film.mp4", 5400.2))).toSatisfy(
      about(LINK_SECONDS + 5401),
    )
    expect(await lifeOf(await uploadPlaying("odd.mp4", 1e12))).toSatisfy(
      about(LINK_SECONDS + 86_400),
    )
    expect(await lifeOf(await uploadPlaying("turned.mp4", -5))).toSatisfy(about(LINK_SECONDS))
  })

  it("to what was fetched does, too", async () => {
    const answer = await caller.post("/fetch", { url: "https://a.example/" })
    const { fetch_id: id } = await answer.json<{ fetch_id: string }>()
    const { media } = fetchResult()
    await finishFetch(caller, id, fetchResult([], { media: { ...media, probe: probeOf(1000) } }))
    expect(await lifeOf(`/fetch/${id}/A%20clip.mp4`)).toSatisfy(about(LINK_SECONDS + 1000))
    expect(await lifeOf(`/fetch/${id}/A%20clip.mp4?expires_in=20`)).toSatisfy(about(20))
  })

  it("lives for as long as is asked, also for less than it plays", async () => {
    const path = await uploadPlaying("film.mp4", 5400)
    expect(await lifeOf(`${path}?expires_in=60`)).toSatisfy(about(60))
    expect(await lifeOf(`${path}?expires_in=86400&disposition=inline`)).toSatisfy(about(86_400))
  })

  it.each(["0", "-1", "1.5", "ten", "", "99999999999"])(
    "is refused where expires_in is %j",
    async (text) => {
      const file = await upload(caller, "a.txt", "x")
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

  it("lives for no longer than the plan allows, which is said", async () => {
    const file = await upload(caller, "a.txt", "x")
    const answer = await caller.call(`/files/${file.id}/a.txt?expires_in=86401`)
    expect(answer.status).toBe(422)
    expect(await readProblem(answer)).toMatchObject({
      message: "expires_in: expected at most 86400, the link_seconds of the account's plan",
    })
  })

  it("lives for as long as a plan of the operator's own says", async () => {
    const { link_seconds: _, ...without } = GOLD
    for (const [name, limits] of [
      ["gold", GOLD],
      ["silver", without],
    ] as const) {
      const made = await askOperator(`/plans/${name}`, {
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
      await askOperator("/plans", { method: "PUT", body: JSON.stringify({ account, plan }) })
      await expect
        .poll(async () => (await (await holder.call("/account")).json<{ plan: string }>()).plan)
        .toBe(plan)
      const file = await upload(holder, "a.txt", "x")
      const path = `/files/${file.id}/a.txt?expires_in=`
      expect((await holder.call(`${path}${least}`)).status).toBe(302)
      expect((await holder.call(`${path}${most}`)).status).toBe(422)
    }
  })
})
