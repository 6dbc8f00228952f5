import { runScriptInContainer } from "../../scripts/image/docker.ts"
import { makeDirectOrder, scriptToHandOver } from "./hand-over.ts"

/**
 * Has the runner of a container do a command that the service would have refused, with nothing
 * between: answers all that the runner reported and stored, as text.
 */
export async function runDirectly(container: string, words: string[]): Promise<string> {
  const order = makeDirectOrder({
    kind: "command",
    commands: [words],
    outputs: [{ key: "out_1", name: "out.bin" }],
    run_seconds_max: 20,
  })
  return await runScriptInContainer(
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
${scriptToHandOver(order)}`,
  )
}
