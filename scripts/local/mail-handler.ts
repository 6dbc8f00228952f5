import { mkdir, writeFile } from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import { join } from "node:path"
import { json } from "node:stream/consumers"
import { z } from "zod"
import { newId } from "../../src/ids.ts"

/** A line of a head: nothing in it ends the line. */
const line = z.string().transform((text) => text.replaceAll(/[\r\n]+/g, " "))
const mail = z.object({ from: line, to: line, subject: line, text: z.string() })

/** Where mails of a state folder are. */
export function mailFolder(stateDir: string): string {
  return join(stateDir, "mails")
}

/**
 * Makes the handler that takes the Worker's mails where nothing sends them: each becomes a file
 * that mail programs read, and a line of the log without what it says.
 */
export function mailHandler(stateDir: string) {
  const folder = mailFolder(stateDir)
  return async (request: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { from, to, subject, text } = mail.parse(await json(request))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const date = new Date()
    const path = join(folder, `${date.toISOString().replaceAll(":", "-")}-${newId()}.eml`)
    const head = [
      `From: ${from}`,
      `To: ${to}`,
      `Subject: ${subject}`,
      `Date: ${date.toUTCString()}`,
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: 8bit",
    ]
    await writeFile(path, `${[...head, "", text].join("\r\n")}\r\n`, { mode: 0o600, flag: "wx" })
    console.log(`Mail to ${to}: "${subject}" is ${path}`)
    answer.writeHead(204).end()
  }
}
