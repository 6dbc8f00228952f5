import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { Server, ServerResponse } from "node:http"
import { join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

/** Python program that writes a wheel of yt-dlp: a module that contains only a version number. */
const WHEEL = `
import sys, zipfile
folder, version = sys.argv[1:]
info = f"yt_dlp-{version}.dist-info"
files = {
    "yt_dlp/__init__.py": "from .version import __version__\\n",
    "yt_dlp/version.py": f"__version__ = '{version}'\\n",
    "yt_dlp/filler.py": "# " + "many bytes " * 100_000 + "\\n",
    f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: yt-dlp\\nVersion: {version}\\nRequires-Dist: no-such-package-at-all\\n",
    f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
}
files[f"{info}/RECORD"] = "".join(f"{name},,\\n" for name in [*files, f"{info}/RECORD"])
with zipfile.ZipFile(f"{folder}/yt_dlp-{version}-py3-none-any.whl", "w") as wheel:
    for name, text in files.items():
        # Without the time of now, so that the same version has the same bytes.
        wheel.writestr(zipfile.ZipInfo(name), text)
`

/** Python package index on loopback with one wheel of yt-dlp. */
export type PackageIndex = {
  url: string
  sha256: string
  /** Returns the number of requests for the wheel. */
  downloads(): number
  /** Makes later downloads of the wheel stop after half of its bytes. */
  stall(): void
  close(): Promise<void>
}

/** Makes a wheel of yt-dlp with this version in `folder`, and serves it as a package index does. */
export async function servePackageIndex(of: {
  python: string
  folder: string
  version: string
}): Promise<PackageIndex> {
  const { python, folder, version } = of
  const name = `yt_dlp-${version}-py3-none-any.whl`
  await run(python, ["-I", "-c", WHEEL, folder, version])
  const wheel = await readFile(join(folder, name))
  const state = { downloads: 0, isStalling: false }
  const server = createServer(({ url }, response) => {
    if (url === "/simple/yt-dlp/") return answer(response, `<a href="/${name}">${name}</a>`)
    if (url !== `/${name}`) return response.writeHead(404).end()
    state.downloads += 1
    if (!state.isStalling) return response.end(wheel)
    response.writeHead(200, { "content-length": wheel.length })
    return response.write(wheel.subarray(0, wheel.length / 2))
  })
  return {
    url: `${await listenOnLoopback(server)}/simple/`,
    sha256: createHash("sha256").update(wheel).digest("hex"),
    downloads: () => state.downloads,
    stall() {
      state.isStalling = true
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

function answer(response: ServerResponse, html: string): void {
  response.writeHead(200, { "content-type": "text/html" }).end(html)
}

async function listenOnLoopback(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
}
