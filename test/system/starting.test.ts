import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { freePort } from "../../scripts/local/ports.ts"
import { startServiceProcess } from "../../scripts/local/service-process.ts"

const OPERATOR_TOKEN = "the-operator-of-this-test".repeat(2)

test("while it starts the service answers 503 and nothing else, and then makes a key", async () => {
  const port = await freePort()
  const asked = askForKeys(port)
  await using service = await startServiceProcess({ port, settings: { OPERATOR_TOKEN } })
  expect(service.origin).toContain(String(port))
  const statuses = await asked
  expect(new Set(statuses.slice(0, -1))).toEqual(new Set([503]))
  expect(statuses.at(-1)).toBe(201)
})

test.each([
  ["CORS_ORIGINS", "app.example.com", '"app.example.com" is no origin such as https://'],
  ["RETENTION_DAYS", "0", "expected a whole number above 0"],
])("a %s of %j ends the start with a sentence", async (name, value, words) => {
  const started = startServiceProcess({ settings: { [name]: value } })
  await expect(started).rejects.toThrow(`A setting is not right. ${name} is "${value}": `)
  await expect(started).rejects.toThrow(words)
})

/** Asks for a key as soon as something listens, and until it gets another answer than 503. */
async function askForKeys(port: number): Promise<number[]> {
  const statuses: number[] = []
  while (statuses.at(-1) === 503 || statuses.length === 0) {
    const answer = await fetch(`http://127.0.0.1:${port}/operator/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ account: "early" }),
    }).catch(() => null)
    if (answer) statuses.push(answer.status)
    await answer?.body?.cancel()
    await sleep(5)
  }
  return statuses
}
