import { describe, expect, it } from "vitest"
import { describeAddressFault } from "../../src/hints/addresses.ts"
import type { AddressUse } from "../../src/hints/addresses.ts"

const origin = "http://127.0.0.1:8787"
const ID = "0198f0b2-7c11-7cc3-9f3e-0a6b3d2f1a11"
const OWN = `svc_id://${ID}`

function tell(text: string, use: AddressUse = "input"): string {
  return describeAddressFault(text, { use, origin })
}

describe("a malformed address of an input", () => {
  it.each([
    "/home/me/a.mp4",
    "a.mp4",
    "my film.mp4",
    "./a.mp4",
    "../a.mp4",
    "~/a.mp4",
    "films/a.mp4",
    "C:\\Users\\me\\a.mp4",
    "C:/Users/a.mp4",
    "\\\\nas\\films\\a.mp4",
    "file:///home/me/a.mp4",
    "@film.mp4",
    "@/home/me/film.mp4",
  ])("%s is a file to upload first", (text) => {
    const told = tell(text)
    expect(told).toContain(`\`${text}\` is a file on your own machine`)
    expect(told).toContain("POST /v1/files, and write `svc_id://<id>`")
  })

  it.each([
    ["www.example.com/a.mp4", "https://www.example.com/a.mp4"],
    ["example.com/a.mp4", "https://example.com/a.mp4"],
    ["example.com:8080/a.mp4", "https://example.com:8080/a.mp4"],
    ["example.com", "https://example.com"],
    ["//example.com/a.mp4", "https://example.com/a.mp4"],
    ["://example.com/a.mp4", "https://example.com/a.mp4"],
    ["localhost:3000/a.mp4", "http://localhost:3000/a.mp4"],
    ["10.0.0.1/a.mp4", "http://10.0.0.1/a.mp4"],
    ["https//example.com/a.mp4", "https://example.com/a.mp4"],
    ["https;//example.com/a.mp4", "https://example.com/a.mp4"],
    ["htps://example.com/a", "https://example.com/a"],
    ["hhttps://example.com", "https://example.com"],
    ["https:\\\\example.com\\a.mp4", "https://example.com/a.mp4"],
    [" https://example.com/a.mp4", "https://example.com/a.mp4"],
    ['"https://example.com/a.mp4"', "https://example.com/a.mp4"],
    ["<https://example.com/a.mp4>", "https://example.com/a.mp4"],
    ["[a](https://example.com/a.mp4)", "https://example.com/a.mp4"],
    ["curl https://example.com/a.mp4", "https://example.com/a.mp4"],
    ["https://example.com/a b.mp4", "https://example.com/a%20b.mp4"],
    [ID, OWN],
    [ID.toUpperCase(), OWN],
    [ID.replaceAll("-", ""), OWN],
    [`{${ID}}`, OWN],
    [`svc_id:${ID}`, OWN],
    [`svc_id:/${ID}`, OWN],
    [`svc_id:///${ID}`, OWN],
    [`svc-id://${ID}`, OWN],
    [`file:${ID}`, OWN],
    [`${OWN}/a.mp4`, OWN],
    [` ${OWN}`, OWN],
    [`${origin}/v1/files/${ID}`, OWN],
    [`http://localhost:8787/public/1/${ID}/a.mp4`, OWN],
    [`/v1/files/${ID}/a.mp4`, OWN],
  ])("%s is corrected to %s", (text, meant) => {
    expect(tell(text)).toContain(`write`)
    expect(tell(text)).toContain(`\`${meant}\``)
  })

  it.each([
    ["", "it is empty: expected svc_id://<uuid>, svc_id://<job id>/<output>, a File's"],
    ["  ", "it is empty"],
    ["{{in_1}}", "is a key of the command"],
    ["in_1", "is a key"],
    ["<url>", "is a placeholder"],
    ["${URL}", "is a placeholder"],
    ["YOUR_FILE_URL", "is a placeholder"],
    ["svc_id://<uuid>", "the placeholder `<uuid>`"],
    [OWN.slice(0, -1), "copy the whole id: an id has 36 characters"],
    ["svc_id://a.mp4", "expected the id of a File after `svc_id://`"],
    [
      "ftp://example.com/a.mp4",
      "the scheme `ftp:` is not supported: give an http or https URL, or upload",
    ],
    ["rtmp://example.com/live", "the scheme `rtmp:` is not supported"],
    ["data:video/mp4;base64,AAAA", "upload the file with POST /v1/files"],
    ["QUJD".repeat(30), "a file in base64: upload the file"],
    ["https://example.com/a https://example.com/b", "one address, but the text has several"],
    [
      "svc_id://Level/file",
      "or a job and its output, as in `svc_id://<job id>/out_1`: GET /v1/files lists",
    ],
    [`${origin}/v1/commands/${ID}`, "with the id of a File, or `svc_id://<job id>/<output>`"],
    [
      "film",
      "expected svc_id://<uuid>, svc_id://<job id>/<output>, a File's download_url, a public URL or",
    ],
  ])("%j gets its own sentence", (text, words) => {
    expect(tell(text)).toContain(words)
  })
})

describe("a malformed address of an import", () => {
  it.each([
    ["/home/me/a.mp4", "send the file itself with POST /v1/files, as in `curl -F file=@film.mp4`"],
    ["www.example.com/a", "write `https://www.example.com/a`"],
    [OWN, "is a URL of this service, which needs no import"],
    [ID, "is a URL of this service"],
    [`${origin}/v1/files/${ID}/a.mp4?key=secret`, "is a URL of this service"],
    ["film", "expected an http or https URL"],
  ])("%s gets its own sentence", (text, words) => {
    expect(tell(text, "import")).toContain(words)
    expect(tell(text, "import")).not.toContain("secret")
  })
})

describe("a malformed address of a webhook", () => {
  it.each([
    ["example.com/hook", "write `https://example.com/hook`"],
    ["hooks.example", "write `https://hooks.example`"],
    ["localhost:3000/hook", "write `http://localhost:3000/hook`"],
    ["/hook", "`/hook` is not a URL: give the http or https URL of a server"],
    ["ftp://example.com/hook", "the scheme `ftp:` is not supported: give an http or https URL"],
    ["mailto:me@example.com", "the scheme `mailto:` is not supported"],
    ["https://<your-host>/hook", "the placeholder `<your-host>`"],
    [OWN, "but a webhook needs the URL of your own server"],
    ["", "it is empty: expected an http or https URL"],
  ])("%s gets its own sentence", (text, words) => {
    expect(tell(text, "webhook")).toContain(words)
  })
})

it("is cut to a length in the sentence", () => {
  expect(tell(`/${"a".repeat(5000)}.mp4`).length).toBeLessThan(500)
})
