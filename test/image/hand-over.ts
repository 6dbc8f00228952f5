import { PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"

/** An order for a runner of a container, whose I/O is added when its server is there. */
export function makeDirectOrder(work: object): object {
  const taskId = crypto.randomUUID()
  return {
    task_id: taskId,
    job_id: crypto.randomUUID(),
    fence: 1,
    slot: taskId,
    allocation: 1,
    inputs: [],
    work,
  }
}

/**
 * The part of a script for a container that opens the HTTP server `io` of that script, and hands
 * the order to the runner once it is up; the script ends where the runner does not take it.
 */
export function scriptToHandOver(order: object): string {
  return `
for (let time = 0; time < 50; time += 1) {
  if (await fetch("http://127.0.0.1:8788/health").catch(() => null)) break
  await new Promise((done) => setTimeout(done, 200))
}
io.listen(0, "127.0.0.1", async () => {
  const origin = "http://127.0.0.1:" + io.address().port
  const answer = await fetch("http://127.0.0.1:8788/tasks", {
    method: "POST",
    headers: {
      "${PROTOCOL_HEADER}": "${PROTOCOL_VERSION}",
      authorization: "Bearer " + process.env.RUNNER_TOKEN,
    },
    body: JSON.stringify({ ...${JSON.stringify(order)}, io: { origin, token: "none" } }),
  })
  if (answer.status === 202) return
  console.error(answer.status, await answer.text())
  process.exit(1)
})`
}
