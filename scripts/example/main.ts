import { CliError, runScript } from "../cli/cli-error.ts"
import { findFreePort } from "../cli/ports.ts"
import { startNodeProgram } from "../cli/program.ts"
import { startServiceProcess } from "../cli/service-process.ts"
import { makeStopSignal } from "../cli/stop-signal.ts"
import { makeChildEnvironment } from "../cli/environment.ts"
import { ensureSetUp } from "../setup/main.ts"

const PROGRAM = "examples/lecture-publisher/publisher.mjs"

// Starts a service with a temporary state folder, and the example with an API key of that service.
await runScript(async () => {
  const port = process.argv[2] ?? String(await findFreePort())
  if (!/^\d{1,5}$/.test(port)) throw new CliError("expected a port: npm run example -- [PORT]")
  await ensureSetUp()
  const signal = makeStopSignal()
  await using service = await startServiceProcess({
    signal,
    echoesErrors: true,
    settings: {
      ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port}`,
      CORS_ORIGINS: `http://127.0.0.1:${port}`,
    },
  })
  const key = await service.makeKey("lectures", "paid")
  await using example = startNodeProgram({
    words: [PROGRAM],
    environment: {
      ...makeChildEnvironment(),
      LATHE: service.origin,
      LATHE_KEY: key,
      PORT: port,
    },
    signal,
    echoesErrors: true,
  })
  example.onLine((line) => console.log(line))
  await example.exited
})
