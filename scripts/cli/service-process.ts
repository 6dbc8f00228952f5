import { createKeyAsOperator } from "../keys/operator.ts"
import type { OperatorAccess } from "../keys/operator.ts"
import { START_SCRIPT_ENVIRONMENT, makeStartScriptArguments } from "../start/bundles.ts"
import { makeChildEnvironment } from "./environment.ts"
import { findFreePort } from "./ports.ts"
import { startNodeProgram, waitForReadyLine } from "./program.ts"
import type { NodeProgram } from "./program.ts"
import { readStoredSecrets } from "./secrets.ts"
import { makeTempFolder } from "./temp-folder.ts"

export type ServiceProcessOptions = {
  /**
   * Settings of the service as environment variables. The service inherits no settings from the
   * environment of this process.
   */
  settings?: Record<string, string>
  /**
   * State folder, which remains after the service has ended. The default is a temporary folder,
   * which is removed then.
   */
  stateDir?: string
  /** Port on which the service listens; by default a free port. */
  port?: number
  /**
   * Folder of the clone whose service is started; by default the working folder of this process.
   */
  folder?: string
  /** Arguments of `node` that start the service. The default is those of `npm start`. */
  words?: [string, ...string[]]
  signal?: AbortSignal
  /** Whether the service's stderr is also written to this process's stderr. */
  echoesErrors?: boolean
}

/** Service of `npm start` as a child process. Disposing of this object ends the process. */
export type ServiceProcess = AsyncDisposable & {
  origin: string
  stateDir: string
  /** Process id of the start script; workerd and the runner are its children. */
  pid: number
  /** Access to the service's operator routes. */
  operator: OperatorAccess
  /** Calls the listener with each line of the service's stdout from now on. */
  onLine: NodeProgram["onLine"]
  /** Calls the listener with each line of the service's stderr from now on. */
  onErrorLine: NodeProgram["onErrorLine"]
  /** Returns the last lines of the service's stdout and stderr. */
  tail: NodeProgram["tail"]
  /**
   * Creates an API key of the account with this name, and the account if there is none. Returns the
   * key.
   */
  makeKey(account: string, plan?: string): Promise<string>
}

/** Starts the service and waits until it serves requests. */
export async function startServiceProcess(
  options: ServiceProcessOptions = {},
): Promise<ServiceProcess> {
  await using started = new AsyncDisposableStack()
  const stateDir = options.stateDir ?? started.use(await makeTempFolder("service")).path
  const port = options.port ?? (await findFreePort())
  const program = started.use(
    startNodeProgram({
      words: options.words ?? makeStartScriptArguments(options.folder ?? process.cwd()),
      folder: options.folder,
      environment: {
        ...makeChildEnvironment(),
        ...START_SCRIPT_ENVIRONMENT,
        ...options.settings,
        PORT: String(port),
        STATE_DIR: stateDir,
      },
      signal: options.signal,
      echoesErrors: options.echoesErrors ?? false,
    }),
  )
  await waitForReadyLine(program, /^Lathe serves /).catch((error: unknown) => {
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
      return (await createKeyAsOperator(operator, { account, ...(plan && { plan }) })).key
    },
    [Symbol.asyncDispose]: async () => await running.disposeAsync(),
  }
}

function tokenOf(stateDir: string): string {
  const secrets = readStoredSecrets(stateDir)
  if (!secrets) throw new Error("the service stored no secrets")
  return secrets.OPERATOR_TOKEN
}
