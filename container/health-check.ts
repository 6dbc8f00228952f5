import { PROTOCOL_HEADER, PROTOCOL_VERSION } from "../src/contract/protocol.ts"
import { readEnvironment } from "./environment.ts"

const { RUNNER_PORT: port } = readEnvironment(process.env)

// The engine ends this process where the answer takes too long.
const answer = await fetch(`http://127.0.0.1:${port}/health`, {
  headers: { [PROTOCOL_HEADER]: PROTOCOL_VERSION },
})
console.log(await answer.text())
if (!answer.ok) process.exitCode = 1
