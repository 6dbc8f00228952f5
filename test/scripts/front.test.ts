import { once } from "node:events"
import { createServer } from "node:http"
import { join } from "node:path"
import { beforeAll, expect, test, vi } from "vitest"
import { startFront } from "../../scripts/local/front/start.ts"
import { freePort } from "../../scripts/local/ports.ts"
import { makeTempFolder } from "../../scripts/local/temp-folder.ts"
import { ensureBuilt } from "../../scripts/setup/build.ts"

const WAIT = { timeout: 20_000 }
const BUILD_MS_MAX = 180_000

// The front's thread runs what set-up bundles.
beforeAll(() => ensureBuilt(), BUILD_MS_MAX)

test("until the service is up, each request hears to come again, whoever listens behind", async () => {
  await using opened = new AsyncDisposableStack()
  const { path: folder } = opened.use(await makeTempFolder("front"))
  const socketPath = join(folder, "worker")
  const asked: string[] = []
  const behind = createServer((incoming, answer) => {
    asked.push(incoming.url ?? "")
    answer.end("behind")
  })
  opened.defer(() => void behind.close())
  await once(behind.listen(socketPath), "listening")
  const port = await freePort()
  const front = opened.use(
    await startFront({ host: "127.0.0.1", port, bodyIdleMs: 10_000, socketPath }),
  )
  const origin = `http://127.0.0.1:${port}`

  for (const [path, request] of [
    ["/v1/health", {}],
    ["/v1/files", { method: "POST", body: "x".repeat(1024 * 1024) }],
  ] as const) {
    const early = await fetch(`${origin}${path}`, request)
    expect(early.status).toBe(503)
    expect(early.headers.get("retry-after")).toBe("1")
    const message = "The service is starting; send the request once more."
    expect(await early.json()).toMatchObject({ error: { code: "overloaded", message } })
  }
  expect(asked).toEqual([])

  front.open()
  await vi.waitFor(async () => {
    expect(await (await fetch(`${origin}/v1/health`)).text()).toBe("behind")
  }, WAIT)
  expect(asked).toEqual(["/v1/health"])
})
