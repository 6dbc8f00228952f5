import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeFixtures } from "../../corpus/fixtures.ts"
import { LEGITIMATE } from "../../corpus/legitimate.ts"
import { expectFacts } from "../../corpus/measure.ts"
import type { Facts, Work } from "../../corpus/work.ts"
import { openAccount } from "../../corpus/account.ts"
import type { Account, MadeFile } from "../../corpus/account.ts"
import { sampleCases } from "../../support/wide.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

/** Every n-th work runs outside of `npm run test:commands`. */
const SAMPLE = 2
const ZIP = "PK\u0003\u0004"

let service: TestService
let account: Account
let folder: string
let pathOf: (name: string) => string
const uploads = new Map<string, Promise<string>>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-corpus-"))
  pathOf = await makeFixtures(folder)
  service = await startService()
  account = openAccount(service.origin, await service.makeKey("corpus"))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

describe.concurrent("a user", () => {
  const works = sampleCases(LEGITIMATE, SAMPLE)
  test.for(works.map((work) => [work.name, work] as const))("%s", async ([, work]) => {
    const { record, refused } = await account.run({
      ...(typeof work.run === "string"
        ? { ffmpeg_command: work.run }
        : { ffmpeg_commands: work.run }),
      input_files: await inputsOf(work),
      output_files: Object.fromEntries(
        Object.entries(work.outputs).map(([key, [name]]) => [key, name]),
      ),
    })
    expect(refused).toBeNull()
    expect([record?.status, record?.processing_errors]).toEqual(["success", undefined])
    expect(record?.warnings).toEqual(work.warnings ?? [])
    for (const [key, [, facts]] of Object.entries(work.outputs)) {
      const made = record?.output_files[key]
      if (made === undefined || typeof made === "string") throw new Error(`${key} was not made`)
      await expectFacts(await fetchOutput(made, facts), facts)
    }
  })
})

async function inputsOf(work: Work): Promise<Record<string, string>> {
  const ids = Object.entries(work.inputs ?? {}).map(
    async ([key, name]) => [key, `svc_id://${await uploadOnce(name)}`] as const,
  )
  return Object.fromEntries(await Promise.all(ids))
}

/** Every fixture is uploaded once, when the first command needs it. */
function uploadOnce(name: string): Promise<string> {
  const known = uploads.get(name)
  if (known) return known
  const uploading = (async () => {
    const { id } = await account.upload(name, new Uint8Array(await readFile(pathOf(name))))
    return id
  })()
  uploads.set(name, uploading)
  return uploading
}

/** Fetches an output into a folder of its own; answers the path of the file to look at. */
async function fetchOutput(made: MadeFile, facts: Facts): Promise<string> {
  const place = join(folder, made.id)
  await mkdir(place)
  const own = await account.download(made.download_url)
  if (!facts.members) {
    await writeFile(join(place, made.name), own)
    return join(place, made.name)
  }
  const members = made.files ?? []
  const names = members.map(({ name }) => name)
  for (const member of members) {
    await writeFile(join(place, member.name), await account.download(member.download_url))
  }
  const text = Buffer.from(own).toString("latin1")
  expect({
    missing: facts.members.filter((pattern) => !names.some((name) => pattern.test(name))),
    count: facts.memberCount ?? names.length,
    isZip: text.startsWith(ZIP),
    unzipped: facts.isZip === true ? names.filter((name) => !text.includes(name)) : [],
  }).toEqual({
    missing: [],
    count: names.length,
    isZip: facts.isZip ?? text.startsWith(ZIP),
    unzipped: [],
  })
  if (!/\.(?:m3u8|mpd)$/.test(made.name) || made.name.includes("%")) {
    return join(place, names.toSorted()[0] ?? "")
  }
  await writeFile(join(place, made.name), own)
  return join(place, made.name)
}
