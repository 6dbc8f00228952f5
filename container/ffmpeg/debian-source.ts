import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SOURCE_VERSION_MIN, SUITE } from "./build-options.ts"
import { run } from "./run.ts"

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

/** Suites by the label of the archive that has them. */
const SUITES: Record<string, string> = { Debian: SUITE, "Debian-Security": `${SUITE}-security` }

/** Sources of Debian's suite, by lists of its own: the system's configuration stays as it is. */
export type DebianSource = AsyncDisposable & {
  /** The newest version of the source of ffmpeg. */
  version: string
  /** Unpacks it, with Debian's patches and the project's, into a folder. */
  unpackInto(folder: string): Promise<void>
}

/** Asks the mirrors that this machine uses; throws an Error with a sentence where none answers. */
export async function openDebianSource(): Promise<DebianSource> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), "lathe-ffmpeg-source-"))
  opened.defer(async () => await rm(folder, { recursive: true, force: true }))
  const options = await configureApt(folder, await findArchives())
  await run("apt-get", [...options, "update", "--error-on=any"])
  const version = await newestOf(await run("apt-cache", [...options, "showsrc", "ffmpeg"]))
  const owned = opened.move()
  return {
    version,
    async unpackInto(target) {
      const fetched = join(folder, "fetched")
      await mkdir(fetched)
      const words = ["source", "--download-only", `ffmpeg=${version}`]
      await run("apt-get", [...options, ...words], fetched)
      await unpack(fetched, target)
    },
    [Symbol.asyncDispose]: async () => await owned.disposeAsync(),
  }
}

/** Whether a version of a Debian package is older than another. */
export async function isOlder(version: string, other: string): Promise<boolean> {
  return await run("dpkg", ["--compare-versions", version, "lt", other]).then(
    () => true,
    () => false,
  )
}

/** URLs of Debian's archives that this machine installs from, by their labels. */
async function findArchives(): Promise<Map<string, string>> {
  const words = ["--format", "$(ORIGIN)|$(LABEL)|$(REPO_URI)", "Created-By: Packages"]
  const lines = (await run("apt-get", ["indextargets", ...words])).trim().split("\n")
  const rows = lines.map((line) => line.split("|"))
  const found = rows.filter(([origin, label = ""]) => origin === "Debian" && label in SUITES)
  if (found.length === 0) {
    throw new Error(
      "apt knows no archive of Debian, from whose source ffmpeg is built: do this on Debian, after `apt-get update`.",
    )
  }
  return new Map(found.map(([, label = "", url = ""]) => [label, url]))
}

async function configureApt(folder: string, archives: Map<string, string>): Promise<string[]> {
  const parts = join(folder, "sources")
  await mkdir(parts)
  await mkdir(join(folder, "lists/partial"), { recursive: true })
  const stanzas = [...archives].map(([label, url]) => {
    return `Types: deb-src\nURIs: ${url}\nSuites: ${SUITES[label]}\nComponents: main\nSigned-By: ${KEYRING}\n`
  })
  await writeFile(join(parts, "debian.sources"), stanzas.join("\n"))
  const settings = {
    "Dir::Etc::SourceList": "/dev/null",
    "Dir::Etc::SourceParts": parts,
    "Dir::State::Lists": join(folder, "lists"),
    "Dir::Cache": join(folder, "cache"),
    // The folder is this user's alone.
    "APT::Sandbox::User": "",
  }
  return Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`])
}

async function newestOf(shown: string): Promise<string> {
  let newest = SOURCE_VERSION_MIN
  let isThere = false
  for (const [, version = ""] of shown.matchAll(/^Version: (\S+)$/gm)) {
    if (await isOlder(version, newest)) continue
    newest = version
    isThere = true
  }
  if (isThere) return newest
  throw new Error(`Debian's source of ffmpeg is older than ${SOURCE_VERSION_MIN} on this mirror.`)
}

async function unpack(fetched: string, target: string): Promise<void> {
  const names = (await readdir(fetched)).map((name) => join(fetched, name))
  const upstream = names.find((name) => /\.orig\.tar\.[a-z0-9]+$/.test(name))
  const packaging = names.find((name) => /\.debian\.tar\.[a-z0-9]+$/.test(name))
  if (upstream === undefined || packaging === undefined) {
    throw new Error(`Debian's source of ffmpeg has no archive that is known: ${names.join(", ")}.`)
  }
  await run("tar", ["--extract", "--file", upstream, "--strip-components=1", "-C", target])
  await run("tar", ["--extract", "--file", packaging, "-C", target])
  const patches = join(target, "debian/patches")
  const apply = `test ! -e series || grep -v '^#' series | while read -r name _; do
    test -z "$name" || patch -p1 -d ../.. <"$name" || exit 1; done`
  await run("sh", ["-c", `test ! -d "$1" || { cd "$1" && ${apply}; }`, "sh", patches])
  await applyOwnPatches(target)
}

/** Applies the patches of this folder to a source, but those that it has already. */
export async function applyOwnPatches(target: string): Promise<void> {
  const names = (await readdir(import.meta.dirname)).filter((name) => name.endsWith(".patch"))
  for (const name of names.toSorted()) {
    const words = [
      "-p1",
      "--force",
      "--directory",
      target,
      "--input",
      join(import.meta.dirname, name),
    ]
    const isThere = await run("patch", ["--dry-run", "--reverse", ...words]).then(
      () => true,
      () => false,
    )
    if (!isThere) await run("patch", words)
  }
}
