import { execFile } from "node:child_process"
import { copyFileSync, existsSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { parseJson } from "../../../scripts/cli/parse-json.ts"
import type { TestService } from "../service.ts"
import { splitCommands } from "./snippets.ts"
import type { Snippet } from "./snippets.ts"

const COMMAND_MS_MAX = 120_000
const FILM = "scripts/demo/command/clip.mp4"
const SPEECH = "scripts/demo/speech/clip.mp3"

/** Files that the examples name. */
const FILES = {
  "clip.mp4": FILM,
  "clip 1.mp4": FILM,
  "film.mp4": FILM,
  "lecture.mp4": FILM,
  "talk.mp4": SPEECH,
  "talk.mp3": SPEECH,
}

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

/** Differences of a page from the usual: values of its placeholders, and statuses of its answers. */
export type PageFacts = {
  /** Values of placeholders by their texts: the id of an uploaded file, that of a job, or a text. */
  values?: Record<string, { upload: string } | { text: string } | "job">
  /** Status that the answers of a page have, if that is an error. */
  status?: number
}

/** Reader of a page, who runs its examples one after the other. */
export class Reader implements AsyncDisposable {
  readonly #service: TestService
  readonly #key: string
  /** Origin of a site that has media at every path, and receives webhooks. */
  readonly #site: string
  readonly #facts: PageFacts
  readonly #folder: { path: string } & AsyncDisposable
  /** Answers so far, the newest last. */
  readonly #answers: unknown[] = []
  readonly #uploads = new Map<string, string>()

  private constructor(
    service: TestService,
    key: string,
    site: string,
    facts: PageFacts,
    folder: { path: string } & AsyncDisposable,
  ) {
    this.#service = service
    this.#key = key
    this.#site = site
    this.#facts = facts
    this.#folder = folder
  }

  static async open(
    service: TestService,
    key: string,
    site: string,
    facts: PageFacts,
    text: string,
  ): Promise<Reader> {
    const folder = await makeTempFolder("reader")
    for (const [name, source] of Object.entries(FILES)) {
      if (text.includes(name)) copyFileSync(source, join(folder.path, name))
    }
    writeFileSync(join(folder.path, "titles.srt"), "1\n00:00:01,000 --> 00:00:03,000\nHello\n")
    // Answers with an error fail the command.
    const isError = facts.status === undefined
    writeFileSync(
      join(folder.path, ".curlrc"),
      `silent\nshow-error\n${isError ? "fail-with-body\n" : ""}`,
    )
    return new Reader(service, key, site, facts, folder)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]()
  }

  /** Runs an example. Throws if a command of it fails, or if a job that it makes fails. */
  async run({ language, code }: Snippet): Promise<void> {
    if (language === "sh") {
      for (const command of splitCommands(code)) await this.#runCommand(command)
      return
    }
    await this.#runProgram(language, await this.#fill(code))
  }

  async #runCommand(command: string): Promise<void> {
    const filled = await this.#fill(command)
    const output = await this.#execute("bash", ["-ec", filled], filled)
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
    writeFileSync(join(this.#folder.path, name), code)
    const output = await this.#execute(program, [name], code)
    this.#answers.push({ output })
  }

  async #execute(file: string, words: string[], shown: string): Promise<string> {
    const options = {
      cwd: this.#folder.path,
      timeout: COMMAND_MS_MAX,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: this.#folder.path,
        API: `${this.#service.origin}/v1`,
        KEY: this.#key,
      },
    }
    return await new Promise((resolve, reject) => {
      execFile(file, words, options, (error, stdout, stderr) => {
        if (error) reject(new Error(`${shown}\n${stdout}\n${stderr}`, { cause: error }))
        else resolve(stdout)
      })
    })
  }

  /** Waits until the job of an answer has ended; it must succeed. */
  async #waitForJob(answer: unknown): Promise<void> {
    const made = ids.safeParse(answer).data
    const isJob = made?.kind !== undefined || made?.status === "pending"
    const id =
      made?.command_id ??
      made?.fetch_id ??
      made?.normalization_id ??
      made?.transcribe_id ??
      (isJob ? made.id : undefined)
    if (id === undefined) return
    const headers = { "x-api-key": this.#key, prefer: "wait=60" }
    const record = await fetch(`${this.#service.origin}/v1/jobs/${id}`, { headers })
    const { status, error } = job.parse(await record.json())
    if (status !== "completed") throw new Error(`The job is ${status}: ${JSON.stringify(error)}`)
  }

  /** Replaces the placeholders of an example, and the addresses that stand for sites. */
  async #fill(text: string): Promise<string> {
    const addressed = text
      .replaceAll(/https:\/\/<a page with a video>/g, `${this.#site}/clip.mp4`)
      .replaceAll(/https:\/\/(?:www\.)?example\.com(?=\/)/g, this.#site)
      .replaceAll("http://127.0.0.1:8787", this.#service.origin)
    const parts = await Promise.all(
      addressed.split(/(?<![<(])<([\w .[\]]+)>/).map(async (part, at) => {
        return at % 2 === 1 ? await this.#resolve(part) : part
      }),
    )
    return parts.join("")
  }

  async #resolve(placeholder: string): Promise<string> {
    const value = this.#facts.values?.[placeholder]
    if (value === "job") return await this.#makeJob()
    if (value !== undefined) return "text" in value ? value.text : await this.#upload(value.upload)
    if (placeholder === "the id of a File") return await this.#upload("clip.mp4")
    const isFile = placeholder in FILES || existsSync(join(this.#folder.path, placeholder))
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
    const answer = await fetch(`${this.#service.origin}/v1/commands`, {
      method: "POST",
      headers: { "x-api-key": this.#key, "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    return z.object({ command_id: z.string() }).parse(await answer.json()).command_id
  }

  async #upload(name: string): Promise<string> {
    const known = this.#uploads.get(name)
    if (known !== undefined) return known
    const body = new FormData()
    const source = Object.entries(FILES).find(([each]) => each === name)?.[1]
    const bytes = await readFile(source ?? join(this.#folder.path, name))
    body.set("file", new Blob([new Uint8Array(bytes)]), name)
    const headers = { "x-api-key": this.#key, prefer: "wait=60" }
    const url = `${this.#service.origin}/v1/files`
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
    const members: [string, unknown][] = Object.entries(Object(found))
    found = new Map(members).get(name)
  }
  return typeof found === "string" ? found : null
}
