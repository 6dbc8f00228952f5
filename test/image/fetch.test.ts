import { describe, expect, it } from "vitest"
import { startContainer } from "../../scripts/image/docker.ts"
import { fetchTaskDefinition } from "../../src/contract/tasks/fetch.ts"
import { fetchDirectly, SITE } from "./fetch-directly.ts"

const LOCKED =
  "--read-only --tmpfs /work --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges"

describe("the image as a runner of fetches", () => {
  it.for([
    ["with Docker's defaults", []],
    ["read-only, without capabilities", LOCKED.split(" ")],
  ] as const)("fetches a page and reaches nothing private, %s", async ([, options]) => {
    const allowed = ["--env", `ALLOWED_PRIVATE_HOSTS=${SITE}`]
    await using container = await startContainer([...allowed, ...options])
    const fetched = await fetchDirectly(container.id, "/watch")
    if (fetched.report.kind !== "finished") throw new Error(JSON.stringify(fetched.report))
    const { title, media } = fetchTaskDefinition.result.parse(fetched.report.result)
    expect(title).toBe("A clip")
    expect(media).toMatchObject({ content_type: "video/mp4", size_bytes: fetched.storedBytes })

    const inside = await fetchDirectly(container.id, "/inside")
    expect(inside).toMatchObject({
      isPrivateReached: false,
      storedBytes: 0,
      report: { kind: "failed", failure: { code: "url_not_allowed" } },
    })
  })
})
