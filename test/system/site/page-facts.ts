import type { PageFacts } from "./reader.ts"

/** File of a browser's form. */
const FILE = `import { readFileSync } from "node:fs"
const file = Object.assign(readFileSync("film.mp4"), { name: "film.mp4", type: "video/mp4" })
`
/** Upload link, and requests that fail for answers with an error. */
const LINK = `const { fetch: send } = globalThis
globalThis.fetch = async (...words) => {
  const answer = await send(...words)
  if (!answer.ok) throw new Error(await answer.text())
  return answer
}
const { API, KEY } = process.env
const headers = { "x-api-key": KEY, "content-type": "application/json" }
const { url } = await (await fetch(API + "/uploads/links", { method: "POST", headers, body: "{}" })).json()
const form = new FormData()
form.set("file", new Blob([file]), "film.mp4")
`
/** Player that asks for a playlist at once. */
const HLS = `const KEY = "a-key"
class Hls {
  constructor({ xhrSetup }) {
    const headers = new Map()
    xhrSetup({ setRequestHeader: (name, value) => headers.set(name, value) }, "http://a/v1/files/a")
    if (headers.get("x-api-key") !== KEY) throw new Error("the request has no key")
  }
}`

/** Differences of pages from the usual, by their paths. */
export const PAGE_FACTS: Record<string, PageFacts> = {
  "docs/guide/commands.md": {
    values: { film: { upload: "film.mp4" }, id: { upload: "titles.srt" } },
  },
  "docs/guide/errors.md": { status: 404 },
  "docs/guide/files.md": {
    values: { "your token": { text: "abc" } },
    scripts: [{ prelude: HLS }],
  },
  "docs/guide/uploads.md": {
    scripts: [
      { prelude: `${FILE}const key = process.env.KEY` },
      { prelude: `import { Upload } from "tus-js-client"\n${FILE}${LINK}`, isOfLines: true },
    ],
  },
  "docs/guide/chains.md": { values: { id: "job" } },
  "docs/guide/jobs.md": { values: { id: "job" } },
  "README.md": { values: { "the id of the File": { upload: "clip.mp4" } } },
  "docs/operate/web.md": {
    values: {
      account: { text: "an-account" },
      "access key": { text: "an-id" },
      "secret key": { text: "a-secret" },
    },
  },
  "docs/develop/migrations.md": { usesWrangler: true },
  "docs/operate/backup-and-upgrade.md": {
    usesWrangler: true,
    values: { "the new one": { text: "an-account" } },
  },
}
