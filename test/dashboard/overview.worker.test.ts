import { expect, test } from "vitest"
import { makeQueuedJob } from "../support/db/queued-job.ts"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"

test("a new account sees its first steps, and a working request", async () => {
  const person = await makeSignedInUser()
  const html = await (await person.visit("/")).text()
  expect(html).toContain("First steps")
  expect(html).toContain("curl https://lathe.test/v1/commands")
  const made = await (await person.submit("/keys", { name: "first", scope: "write" })).text()
  const [, body = ""] = /-d &#39;(\{.*?\})&#39;/s.exec(html) ?? []
  const answer = await person.visit("/v1/commands", {
    method: "POST",
    headers: {
      "x-api-key": /lathe_\w{40}/.exec(made)?.[0] ?? "",
      "content-type": "application/json",
    },
    body: body.replaceAll("&quot;", '"'),
  })
  expect(answer.status).toBe(202)
  const after = await (await person.visit("/")).text()
  expect(after).toContain("Last jobs")
  const steps = [...after.matchAll(/<h3>([^<]*?) (<span class="badge good">done<\/span>)?<\/h3>/g)]
  expect(steps.map(([, title, done]) => [title, done !== undefined])).toEqual([
    ["Create a key", true],
    ["Upload a file", false],
    ["Run a command", true],
    ["Hear of the end of a job", false],
  ])
})

test("an account with many jobs sees no first steps", async () => {
  const person = await makeSignedInUser()
  for (let count = 0; count < 8; count += 1) await makeQueuedJob(person.accountId)
  expect(await (await person.visit("/")).text()).not.toContain("First steps")
})

test.each([
  ["/", "/docs/start"],
  ["/playground", "/docs/guide/commands"],
  ["/jobs", "/docs/guide/jobs"],
  ["/files", "/docs/guide/files"],
  ["/webhooks", "/docs/guide/webhooks"],
  ["/keys", "/docs/guide/keys"],
  ["/usage", "/docs/guide/limits"],
])("%s links to its page of the documentation", async (path, guide) => {
  const person = await makeSignedInUser()
  expect(await (await person.visit(path)).text()).toContain(`<a href="${guide}">How this works</a>`)
})

test("the account's latest jobs are shown, newest first", async () => {
  const [person, other] = [await makeSignedInUser(), await makeSignedInUser()]
  const older = await makeQueuedJob(person.accountId)
  const newer = await makeQueuedJob(person.accountId)
  const foreign = await makeQueuedJob(other.accountId)
  const html = await (await person.visit("/")).text()
  const places = [newer, older].map(({ jobId }) => html.indexOf(`href="/jobs/${jobId}"`))
  expect(places[0]).toBeGreaterThan(0)
  expect(places[1]).toBeGreaterThan(places[0] ?? 0)
  expect(html).not.toContain(foreign.jobId)
  expect(html).toMatch(/class="badge idle">queued/)
})
