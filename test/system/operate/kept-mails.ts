import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import pWaitFor from "p-wait-for"
import { findMailFolder } from "../../../scripts/start/worker.ts"

const POLL_MS = 20

/** The files of the mails to an address that a service has kept, the oldest first. */
export async function mailsTo(stateDir: string, email: string): Promise<string[]> {
  const names = await readdir(findMailFolder(stateDir)).catch(() => [])
  const paths = names
    .toSorted((one, other) => one.localeCompare(other))
    .map((name) => join(findMailFolder(stateDir), name))
  const texts = await Promise.all(paths.map(async (path) => await readFile(path, "utf8")))
  return paths.filter((_, at) => texts[at]?.includes(`\r\nTo: ${email}\r\n`))
}

/** The link in the mail to an address that comes after so many others, once it is there. */
export async function mailedLink(stateDir: string, email: string, before = 0): Promise<string> {
  await pWaitFor(async () => (await mailsTo(stateDir, email)).length > before, {
    interval: POLL_MS,
  })
  const path = (await mailsTo(stateDir, email))[before] ?? ""
  const link = /https?:\/\/\S+/.exec(await readFile(path, "utf8"))?.[0]
  if (link === undefined) throw new Error(`the mail ${path} has no link`)
  return link
}
