import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { z } from "zod"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { parseJson } from "../../../scripts/cli/parse-json.ts"
import type { TestService } from "../service.ts"
import { MODELS_FOLDER } from "./media.ts"
import { isNotRun } from "./commands-not-run.ts"
import { splitCommands } from "./snippets.ts"
import type { Snippet } from "./snippets.ts"
import { Terminal } from "./terminal.ts"

/** Account of the keys that examples create and use. */
export const READER_ACCOUNT = "reader"
/** Folders of the operator's machine that examples name. */
const FOLDERS = /(?<![\w.])(\/opt\/lathe|\/var\/lib\/lathe|\/backup\/lathe|\/srv\/models|\/tmp)\b/g
const job = z.looseObject({ id: z.string(), status: z.string(), error: z.unknown().optional() })
const ids = z.looseObject({
  command_id: z.string().optional(),
  fetch_id: z.string().optional(),
  normalization_id: z.string().optional(),
  transcribe_id: z.string().optional(),
  id: z.string().optional(),
  kind: z.string().optional(),
  status: z.string().optional(),
})

/**
 * Differences of a page from the usual: values of its placeholders, and statuses of its answers.
 */
export type PageFacts = {
  /**
   * Values of placeholders by their texts: the id of an uploaded file, that of a job, or a text.
   */
  values?: Record<string, { upload: string } | { text: string } | "job">
  /** Whether commands of wrangler are run, on a local database. */
  usesWrangler?: boolean
  /** Status that the answers of a page have, if that is an error. */
  status?: number
  /**
   * Code before each JavaScript example, in order; `isOfLines` if each line is an example of its
   * own.
   */
  scripts?: { prelude: string; isOfLines?: boolean }[]
}

/** Place where pages are read. */
export type ReadingRoom = {
  service: TestService
  key: string
  /** Origin of a site that has media at every path, and receives webhooks. */
  site: string
  /** Folder of the files that the examples name. */
  files: string
}

/** Reader of a page, who runs its examples one after the other. */
export class Reader implements AsyncDisposable {
  readonly #room: ReadingRoom
  readonly #facts: PageFacts
  readonly #folder: { path: string } & AsyncDisposable
  readonly #terminal: Terminal
  /** Answers so far, the newest last. */
  readonly #answers: unknown[] = []
  readonly #uploads = new Map<string, string>()
  /** Number of JavaScript examples so far. */
  #scripts = 0

  private constructor(
    room: ReadingRoom,
    facts: PageFacts,
    folder: { path: string } & AsyncDisposable,
  ) {
    this.#room = room
    this.#facts = facts
    this.#folder = folder
    this.#terminal = new Terminal(folder.path, room.service, room.key)
  }

  /** Opens a reader in a folder with the files that the text of the examples sends. */
  static async open(room: ReadingRoom, facts: PageFacts, text: string): Promise<Reader> {
    const folder = await makeTempFolder("reader")
    for (const name of readdirSync(room.files)) {
      if (text.includes(`@${name}`) || text.includes(`cat ${name}`))
        copyFileSync(join(room.files, name), join(folder.path, name))
    }
    // Answers with an error fail the command.
    const fails = facts.status === undefined ? "fail-with-body\n" : ""
    writeFileSync(join(folder.path, ".curlrc"), `silent\nshow-error\n${fails}`)
    const reader = new Reader(room, facts, folder)
    if (facts.usesWrangler) await reader.#terminal.prepareWrangler()
    return reader
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]()
  }

  /** Runs an example. Throws if a command of it fails, or if a job that it makes fails. */
  async run({ language, code }: Snippet): Promise<void> {
    if (language === "sh") {
      this.#terminal.goHome()
      for (const command of splitCommands(code)) {
        if (!isNotRun(command)) await this.#runCommand(command)
      }
      return
    }
    if (language === "js") return await this.#runScript(code)
    await this.#runProgram(language, await this.#fill(code))
  }

  async #runScript(code: string): Promise<void> {
    const { prelude, isOfLines = false } = this.#facts.scripts?.[this.#scripts] ?? { prelude: "" }
    this.#scripts += 1
    const programs = isOfLines ? code.trim().split("\n") : [code]
    for (const program of programs) {
      await this.#runProgram("js", await this.#fill(`${prelude}\n${program}`))
    }
  }

  async #runCommand(command: string): Promise<void> {
    const output = await this.#terminal.runCommand(await this.#fill(command))
    const [json = ""] = /^[{[][\s\S]*$/m.exec(output) ?? []
    const answer = parseJson(json.trim())
    if (answer === null) return
    this.#answers.push(answer)
    await this.#waitForJob(answer)
  }

  async #runProgram(language: string, code: string): Promise<void> {
    const programs: Record<string, [string, string]> = {
      python: ["python3", "example.py"],
      ts: [process.execPath, "example.ts"],
      js: [process.execPath, "example.mjs"],
    }
    const [program, name] = programs[language] ?? ["", ""]
    this.#answers.push({ output: await this.#terminal.runProgram(program, name, code) })
  }

  /** Waits until the job of an answer has ended; it must succeed. */
  async #waitForJob(answer: unknown): Promise<void> {
    const made = ids.safeParse(answer).data
    if (made?.status === "failed") throw new Error(`It failed: ${JSON.stringify(answer)}`)
    const isJob = made?.kind !== undefined || made?.status === "pending"
    const id =
      made?.command_id ??
      made?.fetch_id ??
      made?.normalization_id ??
      made?.transcribe_id ??
      (isJob ? made.id : undefined)
    if (id === undefined) return
    const headers = { "x-api-key": this.#room.key, prefer: "wait=60" }
    for (;;) {
      const record = await fetch(`${this.#room.service.origin}/v1/jobs/${id}`, { headers })
      const { status, error } = job.parse(await record.json())
      if (status === "completed") return
      if (status === "failed") throw new Error(`The job failed: ${JSON.stringify(error)}`)
    }
  }

  /** Replaces the placeholders of an example, and the addresses that stand for sites. */
  async #fill(text: string): Promise<string> {
    const addressed = text
      .replaceAll(/https:\/\/<a page with a video>/g, `${this.#room.site}/clip.mp4`)
      .replaceAll(/https:\/\/(?:www\.)?example\.com(?=\/)/g, this.#room.site)
      .replaceAll("http://127.0.0.1:8787", this.#room.service.origin)
      .replaceAll("https://<the service>", this.#room.service.origin)
      .replaceAll(FOLDERS, (_, name: string) => this.#findFolder(name))
      .replaceAll("sudo -u lathe ", "")
      .replaceAll("--account me", `--account ${READER_ACCOUNT}`)
      .replaceAll(
        /(npx wrangler d1 execute .*)--remote/g,
        "$1--local --persist-to $(mktemp -d ./XXXX)",
      )
      .replaceAll(/(npx wrangler d1 .*)--remote/g, "$1--local")
    const parts = await Promise.all(
      addressed.split(/(?<![<(])<([\w .[\]-]+)>/).map(async (part, at) => {
        return at % 2 === 1 ? await this.#resolve(part) : part
      }),
    )
    return parts.join("")
  }

  /** Returns the folder that stands for one of an operator's machine. */
  #findFolder(name: string): string {
    if (name === "/opt/lathe") return process.cwd()
    if (name === "/var/lib/lathe") return this.#room.service.stateDir
    if (name === "/srv/models") return join(this.#room.files, MODELS_FOLDER)
    const path = join(this.#folder.path, name.slice(1))
    // A backup makes its own folder, in a folder that exists.
    mkdirSync(name === "/tmp" ? path : dirname(path), { recursive: true })
    return path
  }

  async #resolve(placeholder: string): Promise<string> {
    const value = this.#facts.values?.[placeholder]
    if (placeholder === "the key") return this.#room.key
    if (value === "job") return await this.#makeJob()
    if (value !== undefined) return "text" in value ? value.text : await this.#upload(value.upload)
    if (placeholder === "the id of a File") return await this.#upload("clip.mp4")
    const folders = [this.#folder.path, this.#room.files]
    const isFile = folders.some((folder) => existsSync(join(folder, placeholder)))
    if (isFile) return await this.#upload(placeholder)
    for (const answer of this.#answers.toReversed()) {
      const found = findValue(answer, placeholder)
      if (found !== null) return found
    }
    throw new Error(`No answer has <${placeholder}>: ${JSON.stringify(this.#answers)}`)
  }

  async #makeJob(): Promise<string> {
    const body = {
      ffmpeg_command: "ffmpeg -f lavfi -i testsrc2 -t 1 {{out_1}}",
      output_files: { out_1: "test.mp4" },
    }
    const answer = await fetch(`${this.#room.service.origin}/v1/commands`, {
      method: "POST",
      headers: {
        "x-api-key": this.#room.key,
        "content-type": "application/json",
        prefer: "wait=60",
      },
      body: JSON.stringify(body),
    })
    return z.object({ command_id: z.string() }).parse(await answer.json()).command_id
  }

  async #upload(name: string): Promise<string> {
    const known = this.#uploads.get(name)
    if (known !== undefined) return known
    const body = new FormData()
    const own = join(this.#folder.path, name)
    const bytes = await readFile(existsSync(own) ? own : join(this.#room.files, name))
    body.set("file", new Blob([new Uint8Array(bytes)]), name)
    const headers = { "x-api-key": this.#room.key, prefer: "wait=60" }
    const url = `${this.#room.service.origin}/v1/files`
    const answer = await fetch(url, { method: "POST", headers, body })
    const { id } = job.parse(await answer.json())
    this.#uploads.set(name, id)
    return id
  }
}

/** Returns the text at a path of a value, such as `outputs[0].url`. */
function findValue(value: unknown, path: string): string | null {
  let found: unknown = value
  for (const name of path.split(/[.[\]]+/).filter((part) => part !== "")) {
    if (typeof found !== "object" || found === null) return null
    const members: [string, unknown][] = Object.entries(found)
    found = new Map(members).get(name)
  }
  return typeof found === "string" ? found : null
}
