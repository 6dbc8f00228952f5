import { execFile } from "node:child_process"
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join, resolve } from "node:path"
import { startServiceProcess } from "../../../scripts/cli/service-process.ts"
import type { TestService } from "../service.ts"

const COMMAND_MS_MAX = 240_000
/** File of the environment variables with which an example has started the service. */
const STARTED = ".started"
/** Files of the variables and of the working folder after a command, for the next one. */
const VARIABLES = ".variables"
const WORKING_FOLDER = ".working-folder"
/** Variables that are no settings of the service which an example starts. */
const OWN_VARIABLES = new Set("PATH HOME API KEY PORT PWD OLDPWD SHLVL _ CLONE".split(" "))
const WRANGLER_ENVIRONMENT = {
  CI: "1",
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_DOCKER_BIN: resolve("test/scripts/deploy/docker-stand-in.sh"),
}

/**
 * Shell functions of the examples. `npm` runs in the clone, where `npm start` only keeps its
 * environment. `npm run deploy` is a rehearsal, because no test has an account.
 */
const FUNCTIONS = `
npm() {
  if [ "$1" = start ]; then env -0 >"$HOME/${STARTED}"; return; fi
  if [ "$*" = "run deploy" ]; then set -- run deploy -- --dry-run; fi
  (cd "$CLONE" && command npm "$@")
}
npx() { command npx --no-install "$@"; }`

/** Terminal in a folder of its own, in which the examples of a page run one after the other. */
export class Terminal {
  readonly folder: string
  readonly #service: TestService
  readonly #key: string

  constructor(folder: string, service: TestService, key: string) {
    this.folder = folder
    this.#service = service
    this.#key = key
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"))
  }

  /** Provides what commands of wrangler read and change, and makes a local database with tables. */
  async prepareWrangler(): Promise<void> {
    cpSync("wrangler.toml", join(this.folder, "wrangler.toml"))
    symlinkSync(resolve("container"), join(this.folder, "container"))
    cpSync("migrations", join(this.folder, "migrations"), { recursive: true })
    mkdirSync(join(this.folder, "dist/site"), { recursive: true })
    await this.runCommand("npx wrangler d1 migrations apply DB --local")
  }

  /** Makes the next command run in the terminal's own folder. */
  goHome(): void {
    rmSync(join(this.folder, WORKING_FOLDER), { force: true })
  }

  /**
   * Runs a shell command; variables and the working folder stay for the next one. Returns its
   * stdout.
   */
  async runCommand(command: string): Promise<string> {
    const script = `${FUNCTIONS}
[ ! -f ${WORKING_FOLDER} ] || cd "$(cat ${WORKING_FOLDER})"
set -a; [ ! -f "$HOME/${VARIABLES}" ] || . "$HOME/${VARIABLES}"
${command}
export -p >"$HOME/${VARIABLES}"; pwd >"$HOME/${WORKING_FOLDER}"`
    const output = await this.#execute("bash", ["-ec", script], command)
    await this.#startService()
    return output
  }

  /** Runs a program in the file with this name. Returns its stdout. */
  async runProgram(program: string, name: string, code: string): Promise<string> {
    writeFileSync(join(this.folder, name), code)
    return await this.#execute(program, [name], code)
  }

  /** Starts the service as `npm start` of the last command would, and stops it. */
  async #startService(): Promise<void> {
    const path = join(this.folder, STARTED)
    if (!existsSync(path)) return
    const variables = readFileSync(path, "utf8")
      .split("\0")
      .filter((text) => text !== "")
    rmSync(path)
    const entries = variables.map((text) => {
      const at = text.indexOf("=")
      return [text.slice(0, at), text.slice(at + 1)] as const
    })
    const settings = Object.fromEntries(
      entries.filter(([name]) => !OWN_VARIABLES.has(name) && !(name in WRANGLER_ENVIRONMENT)),
    )
    const { STATE_DIR: stateDir, ...others } = settings
    const isOfPage = stateDir !== this.#service.stateDir
    await using _ = await startServiceProcess({
      settings: others,
      ...(isOfPage && stateDir !== undefined && { stateDir }),
    })
  }

  async #execute(file: string, words: string[], shown: string): Promise<string> {
    const options = {
      cwd: this.folder,
      timeout: COMMAND_MS_MAX,
      env: {
        ...WRANGLER_ENVIRONMENT,
        PATH: process.env["PATH"] ?? "",
        HOME: this.folder,
        CLONE: process.cwd(),
        API: `${this.#service.origin}/v1`,
        KEY: this.#key,
        PORT: new URL(this.#service.origin).port,
        STATE_DIR: this.#service.stateDir,
      },
    }
    return await new Promise((resolve, reject) => {
      execFile(file, words, options, (error, stdout, stderr) => {
        if (error) reject(new Error(`${shown}\n${stdout}\n${stderr}`, { cause: error }))
        else resolve(stdout)
      })
    })
  }
}
