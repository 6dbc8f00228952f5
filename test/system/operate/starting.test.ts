import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { findFreePort } from "../../../scripts/cli/ports.ts"
import { startServiceProcess } from "../../../scripts/cli/service-process.ts"

const OPERATOR_TOKEN = "the-operator-of-this-test".repeat(2)

test("requests wait while the service starts, and are then answered", async () => {
  const port = await findFreePort()
  const asked = askForKey(port)
  await using service = await startServiceProcess({ port, settings: { OPERATOR_TOKEN } })
  expect(service.origin).toContain(String(port))
  expect(await asked).toBe(201)
})

test.each([
  [
    "CORS_ORIGINS",
    "app.example.com",
    '"app.example.com" is not an origin: expected one such as https://',
  ],
  ["RETENTION_DAYS", "0", "expected a whole number above 0"],
])("a %s of %j ends the start with a sentence", async (name, value, words) => {
  const started = startServiceProcess({ settings: { [name]: value } })
  await expect(started).rejects.toThrow(`A setting is invalid. ${name} is "${value}": `)
  await expect(started).rejects.toThrow(words)
})

/** Asks for a key as soon as something listens; answers the status. */
async function askForKey(port: number): Promise<number> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/operator/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ account: "early" }),
    }).catch(() => null)
    await answer?.body?.cancel()
    if (answer) return answer.status
    await sleep(5)
  }
}
