import { existsSync, globSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"

/** Matches the package of an import, unless it is a Node module or a file. */
const IMPORT = /^(?:import|export) .*?from "(?!node:|\.)((?:@[^/"]+\/)?[^/"]+)/gm

test("the image has each package that the runner imports, and no other", () => {
  const sources = globSync(["container/**/*.ts", "src/{contract,ffmpeg}/**/*.ts"])
  const imported = sources.flatMap((path) =>
    Array.from(readFileSync(path, "utf8").matchAll(IMPORT), ([, name = ""]) => name),
  )
  const sorted = [...new Set(imported)].toSorted()
  const [, list = ""] =
    /const kept =[^[]*(\[[^\]]*\])/.exec(readFileSync("container/Dockerfile", "utf8")) ?? []
  expect(JSON.parse(list)).toEqual(sorted)
})

const dockerfile = readFileSync("container/Dockerfile", "utf8")

/** Folders of the repository by their places in the stages of the image. */
const PLACES: [RegExp, string][] = [
  [/^\/ffmpeg\//, "container/ffmpeg/"],
  [/^\/app\//, ""],
  [/^\/launcher\//, "container/launcher/"],
]

test("the image names only files and folders that exist", () => {
  const copied = Array.from(dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm), ([, paths = ""]) =>
    paths.split(" "),
  ).flat()
  const programs = [...dockerfile.matchAll(/\/(?:ffmpeg|app|launcher)\/[\w/-]+\.(?:ts|sh)\b/g)]
  const run = programs.map(([path]) =>
    PLACES.reduce((moved, [place, folder]) => moved.replace(place, folder), path),
  )
  expect(copied.length).toBeGreaterThan(8)
  expect(run.length).toBeGreaterThan(4)
  expect([...copied, ...run].filter((path) => !existsSync(path))).toEqual([])
})

test("lists of tests that run on the project's own ffmpeg name tests that exist", () => {
  const texts = ["scripts/test/ffmpeg.ts", ".ci/run"].map((path) => readFileSync(path, "utf8"))
  const named = texts.flatMap((text) =>
    Array.from(text.matchAll(/^\s+"?(test\/[\w/.-]+?)"?,?$/gm), ([, path = ""]) => path),
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((path) => globSync(`${path}*`).length === 0)).toEqual([])
})
