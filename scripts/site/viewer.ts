import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, globSync } from "node:fs"
import { mkdir, readFile, rename } from "node:fs/promises"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { CliError } from "../cli/cli-error.ts"
import { makeTempFolder } from "../cli/temp-folder.ts"

const run = promisify(execFile)

/**
 * npm package of the API viewer. docs/decisions/0087 explains why no dependency installs the
 * package.
 */
const PACKAGE = "@scalar/api-reference@1.76.0"
const INTEGRITY =
  "sha512-pjqwnzmA9YK3ZX+IZSICMsywm4qI6HLSngR2py9H6TvFApHHuJjkTAd+gFJfnqJDzJuro8k7ji6JCtJ2U+Byng=="
/** Path of the only file in the package that the site needs. */
const MEMBER = "package/dist/browser/standalone.js"

/** Returns the script of the API viewer. The first call downloads the viewer's package with npm. */
export async function readApiViewerScript(): Promise<Buffer> {
  const path = join("node_modules/.cache/lathe-viewer", `${PACKAGE.split("@").at(-1)}.js`)
  if (!existsSync(path)) await fetchViewer(path)
  return await readFile(path)
}

async function fetchViewer(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await using temporary = await makeTempFolder("viewer")
  const { path: folder } = temporary
  await run("npm", ["pack", PACKAGE, "--silent", "--pack-destination", folder]).catch(
    (error: unknown) => {
      throw new CliError(`npm could not fetch ${PACKAGE}, the viewer of the API.`, { cause: error })
    },
  )
  const [archive = ""] = globSync(join(folder, "*.tgz"))
  const hash = createHash("sha512")
    .update(await readFile(archive))
    .digest("base64")
  if (`sha512-${hash}` !== INTEGRITY) {
    throw new CliError(`${PACKAGE} has another content than its hash in scripts/site/viewer.ts.`)
  }
  await run("tar", ["-xzf", archive, "-C", folder, MEMBER])
  const extracted = join(dirname(path), `.${process.pid}.js`)
  await rename(join(folder, MEMBER), extracted).catch(async () => {
    // Copies the file if the rename fails: the temporary folder may be on another file system.
    await run("cp", [join(folder, MEMBER), extracted])
  })
  await rename(extracted, path)
}
