import { expect, test } from "vitest"
import { toRunnerSettings, parseRunnerEnvironment } from "../../../container/settings.ts"
import { startFetchHarness } from "./fetch-harness.ts"

test("a runner without yt-dlp reports that in its health and in failures", async () => {
  const { toolPaths } = toRunnerSettings(
    parseRunnerEnvironment({ FETCH_PYTHON_PATH: "/nowhere/bin/python" }),
  )
  await using lab = await startFetchHarness({ toolPaths })
  const health = await lab.harness.call("GET", "/health")
  expect(await health.json()).toMatchObject({ "yt-dlp": "unavailable" })
  expect(await lab.fetch("/page/video")).toMatchObject({
    kind: "failed",
    blame: "ours",
    failure: { code: "internal", message: "This runner has no yt-dlp, so it cannot fetch." },
  })
})

test("a runner with a list of sites fetches from no other site", async () => {
  const egress = { allowedHosts: ["127.0.0.1"], proxy: null, sites: ["example.com"] }
  await using lab = await startFetchHarness({ egress })
  expect(await lab.fetch("/page/video")).toMatchObject({
    kind: "failed",
    blame: "caller",
    failure: { code: "url_not_allowed" },
  })
  expect(lab.site.requests).toEqual([])
  const health = await lab.harness.call("GET", "/health")
  expect(await health.json()).toMatchObject({ "yt-dlp": expect.stringMatching(/^2026\./) })
})
