import { createKey } from "../keys/operator.ts"
import type { Operator } from "../keys/operator.ts"
import { START_ENVIRONMENT, startWords } from "./built.ts"
import { toolEnvironment } from "./environment.ts"
import { freePort } from "./ports.ts"
import { startProgram, untilReadyLine } from "./program.ts"
import type { Program } from "./program.ts"
import { storedSecrets } from "./secrets.ts"
import { makeTempFolder } from "./temp-folder.ts"

export type ServiceProcessOptions = {
  /** Variables of its environment; no setting of this process's environment reaches it. */
  settings?: Record<string, string>
  /** Kept afterwards; by default a temporary folder, which is removed. */
  stateDir?: string
  /** Where it listens; by default a free port. */
  port?: number
  /** The project whose service it is; by default the one that this process runs in. */
  folder?: string
  /** The words after `node` that start it, where `npm start` would do so by others. */
  words?: [string, ...string[]]
  signal?: AbortSignal
  /** Whether its stderr is shown. */
  echoesErrors?: boolean
}

/** The service of `npm start` as a process of its own, which ends when it is disposed of. */
export type ServiceProcess = AsyncDisposable & {
  origin: string
  stateDir: string
  /** Process id of the start script; workerd and the runner are its children. */
  pid: number
  /** Access to its operator routes. */
  operator: Operator
  /** Calls back with each line that it prints from now on. */
  onLine: Program["onLine"]
  /** The same for what it complains of. */
  onErrorLine: Program["onErrorLine"]
  /** The last lines that it has printed. */
  tail: Program["tail"]
  /** Makes a key of an account, which is made too where it is new. */
  makeKey(account: string, plan?: string): Promise<string>
}

/** Starts the service on a free port and returns once it serves. */
export async function startServiceProcess(
  options: ServiceProcessOptions = {},
): Promise<ServiceProcess> {
  await using started = new AsyncDisposableStack()
  const stateDir = options.stateDir ?? started.use(await makeTempFolder("service")).path
  const port = options.port ?? (await freePort())
  const program = started.use(
    startProgram({
      words: options.words ?? startWords(options.folder ?? process.cwd()),
      folder: options.folder,
      environment: {
        ...toolEnvironment(),
        ...START_ENVIRONMENT,
        ...options.settings,
        PORT: String(port),
        STATE_DIR: stateDir,
      },
      signal: options.signal,
      echoesErrors: options.echoesErrors ?? false,
    }),
  )
  await untilReadyLine(program, /^Lathe serves /).catch((error: unknown) => {
    options.signal?.throwIfAborted()
    throw error
  })
  const origin = `http://127.0.0.1:${port}`
  const operator = { origin, token: tokenOf(stateDir), isLocal: true }
  const running = started.move()
  return {
    origin,
    stateDir,
    pid: program.pid,
    operator,
    onLine: (listener) => program.onLine(listener),
    onErrorLine: (listener) => program.onErrorLine(listener),
    tail: () => program.tail(),
    async makeKey(account, plan) {
      return (await createKey(operator, { account, ...(plan && { plan }) })).key
    },
    [Symbol.asyncDispose]: async () => await running.disposeAsync(),
  }
}

function tokenOf(stateDir: string): string {
  const secrets = storedSecrets(stateDir)
  if (!secrets) throw new Error("the service stored no secrets")
  return secrets.OPERATOR_TOKEN
}
