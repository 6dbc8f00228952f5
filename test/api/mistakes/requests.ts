import { assembleApiKey } from "../../../src/platform/crypto/api-key.ts"
import { command, json } from "./mistake.ts"
import type { Mistake } from "./mistake.ts"

const invalid = { status: 422, code: "invalid_field" }
const commands = { path: "/commands", ...invalid }
const files = { path: "/files", ...invalid }
const noKey = { path: "/files", status: 401, code: "invalid_token" }

/** Returns a form as bytes on the wire: the lines of its single part. */
function part(...lines: string[]): (key: string) => RequestInit {
  return (key) => ({
    method: "POST",
    headers: { "x-api-key": key, "content-type": "multipart/form-data; boundary=b" },
    body: ["--b", ...lines, "--b--", ""].join("\r\n"),
  })
}

/** Mistakes in names of fields. */
const NAMES: Mistake[] = [
  {
    mistake: "`inputs` for `input_files`",
    ...commands,
    init: command({ inputs: {} }),
    field: "inputs",
    words: ["did you mean `input_files`?"],
  },
  {
    mistake: "`outputs` for `output_files`",
    ...commands,
    init: command({ outputs: {} }),
    field: "outputs",
    words: ["did you mean `output_files`?"],
  },
  {
    mistake: "`command` for `ffmpeg_command`",
    ...commands,
    init: command({ ffmpeg_command: undefined, command: "ffmpeg" }),
    field: "command",
    words: ["did you mean `ffmpeg_command`?"],
  },
  {
    mistake: "`webhook_url` for `webhook`",
    ...commands,
    init: command({ webhook_url: "https://example.com/" }),
    field: "webhook_url",
    words: ["did you mean `webhook`?"],
  },
  {
    mistake: "`callback` for `webhook`",
    ...commands,
    init: command({ callback: "https://example.com/" }),
    field: "callback",
    words: ["did you mean `webhook`?"],
  },
  {
    mistake: "a field with a slip in it",
    ...commands,
    init: command({ inputFile: {} }),
    field: "inputFile",
    words: ["did you mean `input_files`?"],
  },
  {
    mistake: "a field that nothing is like",
    ...commands,
    init: command({ zebra: 1 }),
    field: "zebra",
    words: ["unknown field"],
  },
  {
    mistake: "a field of another interface in a transcode",
    path: "/transcode",
    status: 400,
    field: "input",
    code: "invalid_field",
    init: json({ input: "https://example.com/a.mp4", outputs: [] }),
    words: ["did you mean `source`?"],
  },
  {
    mistake: "`url` for `file_url`",
    ...files,
    init: json({ file_url: "https://example.com/a.mp4", url: "https://example.com/a.mp4" }),
    field: "url",
    words: ["did you mean `file_url`?"],
  },
  {
    mistake: "no command",
    ...commands,
    init: command({ ffmpeg_command: undefined }),
    field: "ffmpeg_command",
    words: ["the request has no command", "give `ffmpeg_command`"],
  },
  {
    mistake: "a command in both forms",
    ...commands,
    init: command({ ffmpeg_commands: ["ffmpeg -i a b"] }),
    field: "ffmpeg_command",
    words: ["both", "leave one out"],
  },
  {
    mistake: "five faults",
    ...commands,
    init: command({ one: 1, two: 2, three: 3, four: 4, five: 5 }),
    field: "one",
    words: ["and 4 more"],
  },
]

/** Mistakes in keys. */
const KEYS: Mistake[] = [
  {
    mistake: "no key",
    ...noKey,
    init: () => ({}),
    words: ["carries no API key", "X-API-KEY", "Authorization: Bearer"],
  },
  {
    mistake: "a malformed key",
    ...noKey,
    init: () => ({ headers: { "x-api-key": "sk-1234" } }),
    words: ["API key is malformed", "lathe_"],
  },
  {
    mistake: "a key in quotes",
    ...noKey,
    init: (key) => ({ headers: { "x-api-key": `"${key}"` } }),
    words: ["API key is malformed", "remove the quotes"],
  },
  {
    mistake: "an empty key",
    ...noKey,
    init: () => ({ headers: { "x-api-key": "" } }),
    words: ["is empty"],
  },
  {
    mistake: "a key that never was",
    ...noKey,
    init: () => ({ headers: { "x-api-key": assembleApiKey() } }),
    words: ["unknown, expired or revoked"],
  },
  {
    mistake: "a key without Bearer",
    ...noKey,
    init: (key) => ({ headers: { authorization: key } }),
    words: ["without `Bearer`", "X-API-KEY"],
  },
  {
    mistake: "a key in another header",
    ...noKey,
    init: (key) => ({ headers: { "api-key": key } }),
    words: ["does not read keys from the header `api-key`", "X-API-KEY"],
  },
  {
    mistake: "a key in another parameter",
    ...noKey,
    path: "/files?api_key=lathe_x",
    init: () => ({}),
    words: ["from the query parameter `api_key`", "`key`"],
  },
]

/** Mistakes in uploads and URLs. */
const FILES: Mistake[] = [
  {
    mistake: "-F file=path without @",
    ...files,
    init: part('content-disposition: form-data; name="file"', "", "lesson1.mp4"),
    field: "file",
    words: ["-F file=@film.mp4"],
  },
  {
    mistake: "JSON with the file in it",
    ...files,
    init: json({ file: "lesson1.mp4" }),
    field: "file",
    words: ["curl", "-F file=@film.mp4", "https://lathe.test/v1/files"],
  },
  {
    mistake: "JSON without a file",
    ...files,
    init: json({}),
    field: "file_url",
    words: ["curl", "-F file=@film.mp4 https://lathe.test/v1/files"],
  },
  {
    mistake: "the raw bytes of a file",
    path: "/files",
    status: 415,
    code: "unsupported_media_type",
    init: (key) => ({
      method: "POST",
      headers: { "x-api-key": key, "content-type": "video/mp4" },
      body: "bytes",
    }),
    words: ['curl -H "X-API-KEY: $KEY" -F file=@film.mp4 https://lathe.test/v1/files'],
  },
  {
    mistake: "a webhook to localhost, on one machine",
    ...commands,
    origin: "http://127.0.0.1:8787",
    init: command({ webhook: "http://localhost:3000/hook" }),
    field: "webhook",
    words: ["expected a public host", "ALLOWED_PRIVATE_HOSTS=localhost:3000"],
  },
]

function asking(path: string): (key: string) => RequestInit {
  return (key) => ({ method: path.includes("?") ? "GET" : "POST", headers: { "x-api-key": key } })
}

function lost(mistake: string, path: string, near: string): Mistake {
  const words = ["No such path exists", `did you mean \`${near}\`?`]
  return { mistake, path, init: asking(path), status: 404, code: "not_found", words }
}

const ID = "0198f0b2-7c11-7cc3-9f3e-0a6b3d2f1a11"

/** Mistakes in paths, parameters and ids. */
const PLACES: Mistake[] = [
  lost("a path in the plural", "/transcodes", "/v1/transcode"),
  lost("a noun for a verb", "/normalizations", "/v1/normalize"),
  lost("a path with a slip in it", `/comands/${ID}`, `/v1/commands/${ID}`),
  lost("a cancel below its kind", `/commands/${ID}/cancel`, `/v1/jobs/${ID}/cancel`),
  {
    mistake: "another API's name of a parameter",
    path: "/jobs?state=success",
    ...invalid,
    init: asking("/jobs?state=success"),
    field: "state",
    words: ["unknown query parameter", "`status`"],
  },
  {
    mistake: "a bare id as an input",
    ...commands,
    code: "invalid_reference",
    init: command({ input_files: { in_1: ID } }),
    field: "input_files.in_1",
    words: [`svc_id://${ID}`],
  },
]

/** Mistakes in requests other than commands. */
export const REQUEST_MISTAKES = [...NAMES, ...KEYS, ...FILES, ...PLACES]
