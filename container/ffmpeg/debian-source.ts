import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DEBIAN_SOURCE_VERSION_MIN, DEBIAN_SUITE } from "./build-options.ts"
import { runInCLocale } from "./run-program.ts"

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

/** Debian suites, by the label of their archive. */
const SUITES: Record<string, string> = {
  Debian: DEBIAN_SUITE,
  "Debian-Security": `${DEBIAN_SUITE}-security`,
}

/**
 * Debian's source package of ffmpeg. Uses separate lists of apt, so that the configuration of the
 * system stays unchanged.
 */
export type FfmpegSource = AsyncDisposable & {
  /** Newest version of the source package. */
  version: string
  /**
   * Unpacks the source into a folder, and applies Debian's patches and the patches of this project.
   */
  unpackInto(folder: string): Promise<void>
}

/**
 * Queries the Debian mirrors of this machine for the source package. Throws an Error if no mirror
 * has it.
 */
export async function openFfmpegSource(): Promise<FfmpegSource> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), "lathe-ffmpeg-source-"))
  opened.defer(async () => await rm(folder, { recursive: true, force: true }))
  const options = await configureApt(folder, await findArchives())
  await runInCLocale("apt-get", [...options, "update", "--error-on=any"])
  const version = await newestOf(await runInCLocale("apt-cache", [...options, "showsrc", "ffmpeg"]))
  const owned = opened.move()
  return {
    version,
    async unpackInto(target) {
      const fetched = join(folder, "fetched")
      await mkdir(fetched)
      const words = ["source", "--download-only", `ffmpeg=${version}`]
      await runInCLocale("apt-get", [...options, ...words], fetched)
      await unpack(fetched, target)
    },
    [Symbol.asyncDispose]: async () => await owned.disposeAsync(),
  }
}

/** Reports whether a version of a Debian package is older than another version. */
export async function isOlderDebianVersion(version: string, other: string): Promise<boolean> {
  return await runInCLocale("dpkg", ["--compare-versions", version, "lt", other]).then(
    () => true,
    () => false,
  )
}

/** Returns the URLs of the Debian archives from which this machine installs packages, by label. */
async function findArchives(): Promise<Map<string, string>> {
  const words = ["--format", "$(ORIGIN)|$(LABEL)|$(REPO_URI)", "Created-By: Packages"]
  const lines = (await runInCLocale("apt-get", ["indextargets", ...words])).trim().split("\n")
  const rows = lines.map((line) => line.split("|"))
  const found = rows.filter(([origin, label = ""]) => origin === "Debian" && label in SUITES)
  if (found.length === 0) {
    throw new Error(
      "apt has no Debian archive, and ffmpeg is built from Debian's source: run this on Debian, after `apt-get update`.",
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
    // apt must not switch to another user, since only this user can read the folder.
    "APT::Sandbox::User": "",
  }
  return Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`])
}

async function newestOf(shown: string): Promise<string> {
  let newest = DEBIAN_SOURCE_VERSION_MIN
  let isThere = false
  for (const [, version = ""] of shown.matchAll(/^Version: (\S+)$/gm)) {
    if (await isOlderDebianVersion(version, newest)) continue
    newest = version
    isThere = true
  }
  if (isThere) return newest
  throw new Error(
    `Debian's source of ffmpeg is older than ${DEBIAN_SOURCE_VERSION_MIN} on this mirror.`,
  )
}

async function unpack(fetched: string, target: string): Promise<void> {
  const names = (await readdir(fetched)).map((name) => join(fetched, name))
  const upstream = names.find((name) => /\.orig\.tar\.[a-z0-9]+$/.test(name))
  const packaging = names.find((name) => /\.debian\.tar\.[a-z0-9]+$/.test(name))
  if (upstream === undefined || packaging === undefined) {
    throw new Error(`Debian's source of ffmpeg has no known archive: ${names.join(", ")}.`)
  }
  await runInCLocale("tar", ["--extract", "--file", upstream, "--strip-components=1", "-C", target])
  await runInCLocale("tar", ["--extract", "--file", packaging, "-C", target])
  const patches = join(target, "debian/patches")
  const apply = `test ! -e series || grep -v '^#' series | while read -r name _; do
    test -z "$name" || patch -p1 -d ../.. <"$name" || exit 1; done`
  await runInCLocale("sh", ["-c", `test ! -d "$1" || { cd "$1" && ${apply}; }`, "sh", patches])
  await applyProjectPatches(target)
}

/**
 * Applies the patches of container/ffmpeg to an unpacked source, except patches that it already
 * contains.
 */
export async function applyProjectPatches(target: string): Promise<void> {
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
    const isThere = await runInCLocale("patch", ["--dry-run", "--reverse", ...words]).then(
      () => true,
      () => false,
    )
    if (!isThere) await runInCLocale("patch", words)
  }
}
