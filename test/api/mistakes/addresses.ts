import { command, json } from "./mistake.ts"
import type { Mistake } from "./mistake.ts"

const UPLOAD = ["a file on your own machine", "POST /v1/files"]
const ID = "0198f0b2-7c11-7cc3-9f3e-0a6b3d2f1a11"

/** Puts an address into `input_files.in_1`. */
function input(mistake: string, address: string, words: string[]): Mistake {
  const init = command({ input_files: { in_1: address } })
  const [path, status, field] = ["/commands", 422, "input_files.in_1"] as const
  return { mistake, path, init, status, field, code: "invalid_reference", words }
}

/** Puts an address into the field that another create has for it. */
function other(
  mistake: string,
  path: string,
  body: Record<string, unknown>,
  { field, code, words }: Pick<Mistake, "field" | "code" | "words">,
): Mistake {
  return { mistake, path, init: json(body), status: 422, field: field ?? "", code, words }
}

const invalid = { code: "invalid_field" }
const refused = { code: "url_not_allowed" }

/** Mistakes in fields that hold an address. */
export const ADDRESS_MISTAKES: Mistake[] = [
  input("a path as an input", "/home/me/a.mp4", ["`/home/me/a.mp4`", ...UPLOAD, "svc_id://<id>"]),
  input("a file's name as an input", "a.mp4", UPLOAD),
  input("a URL without its scheme as an input", "www.example.com/a.mp4", [
    "write `https://www.example.com/a.mp4`",
  ]),
  input("svc_id with one colon alone", `svc_id:${ID}`, [`write \`svc_id://${ID}\``]),
  input("a key as its own value", "{{in_1}}", ["is a key"]),
  input("an ftp URL as an input", "ftp://example.com/a.mp4", ["`ftp:`", "http or https"]),
  other(
    "a path in file_url of a normalization",
    "/normalize",
    { file_url: "./a.wav" },
    { field: "file_url", code: "invalid_reference", words: UPLOAD },
  ),
  other(
    "a path in file_url of a transcription",
    "/transcribe",
    { file_url: "a.mp3" },
    { field: "file_url", code: "invalid_reference", words: UPLOAD },
  ),
  other(
    "a path in file_url of an import",
    "/files",
    { file_url: "/home/me/a.mp4" },
    { field: "file_url", ...refused, words: [...UPLOAD, "curl -F file=@film.mp4"] },
  ),
  other(
    "the id of a file in file_url of an import",
    "/files",
    { file_url: `svc_id://${ID}` },
    { field: "file_url", ...refused, words: ["needs no import"] },
  ),
  other(
    "a URL without its scheme in a fetch",
    "/fetch",
    { url: "youtu.be/abc" },
    { field: "url", ...refused, words: ["write `https://youtu.be/abc`"] },
  ),
  other(
    "a URL without its scheme in a metadata request",
    "/fetch/metadata",
    { url: "youtu.be/abc" },
    { field: "url", ...refused, words: ["write `https://youtu.be/abc`"] },
  ),
  {
    mistake: "a URL without its scheme in the Job form",
    path: "/transcode",
    init: json({ source: "a.example/b", outputs: [{ codec: "h264", resolution: "480p" }] }),
    status: 400,
    field: "source",
    code: "invalid_reference",
    words: ["source: write `https://a.example/b`"],
  },
  {
    mistake: "a URL without its scheme among inputs",
    path: "/ffmpeg",
    init: json({
      inputs: ["a.example/b"],
      command: "-i {{in_1}} {{out_1}}",
      output_filename: "a.mp4",
    }),
    status: 400,
    field: "inputs.0",
    code: "invalid_reference",
    words: ["inputs.0: write `https://a.example/b`"],
  },
  {
    mistake: "a webhook without its scheme",
    path: "/commands",
    init: command({ webhook: "example.com/hook" }),
    status: 422,
    field: "webhook",
    ...invalid,
    words: ["write `https://example.com/hook`"],
  },
  other(
    "a test of a webhook without its scheme",
    "/webhooks/test",
    { url: "example.com/hook" },
    { field: "url", ...invalid, words: ["write `https://example.com/hook`"] },
  ),
]
