import { PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"
import { runScriptIn } from "../../scripts/image/docker.ts"

/**
 * Has the runner of a container do a command that the service would have refused, with nothing
 * between: answers all that the runner reported and stored, as text.
 */
export async function runDirectly(container: string, words: string[]): Promise<string> {
  const taskId = crypto.randomUUID()
  const order = {
    task_id: taskId,
    job_id: crypto.randomUUID(),
    fence: 1,
    slot: taskId,
    allocation: 1,
    inputs: [],
    work: {
      kind: "command",
      commands: [words],
      outputs: [{ key: "out_1", name: "out.bin" }],
      run_seconds_max: 20,
    },
  }
  return await runScriptIn(
    container,
    `
    import { createServer } from "node:http"
    const bodies = []
    const io = createServer(async (request, response) => {
      const bytes = Buffer.concat(await request.toArray())
      bodies.push(bytes.toString("latin1"))
      response.end("{}")
      if (!request.url.endsWith("/reports")) return
      if (!/^(finished|failed|interrupted)$/.test(JSON.parse(bytes).kind)) return
      console.log(bodies.join("\\n"))
      process.exit()
    })
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
    })`,
  )
}
