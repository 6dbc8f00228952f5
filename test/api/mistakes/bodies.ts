import { command, json } from "./mistake.ts"
import type { Mistake } from "./mistake.ts"

/** Sends malformed JSON as the body of a create. */
function broken(mistake: string, body: string, words: string[]): Mistake {
  const [path, status, field, code] = ["/commands", 422, "body", "invalid_field"] as const
  return { mistake, path, init: json(body), status, field, code, words }
}

const TEXTS: Mistake[] = [
  broken("an extra comma", '{\n "a": 1,\n}', ["line 2, column 8", "remove the comma before `}`"]),
  broken("single quotes", "{'a': 1}", ['column 2: write `"`']),
  broken("a name without quotes", "{a: 1}", ['put the name in double quotes: `"a"`']),
  broken("a Python literal", '{"a": None}', ["write `null` instead of `None`"]),
  broken("a quote within a text", '{"a": "-vf "x" y"}', ['write a quote within a string as `\\"`']),
  broken("nothing at all", "", ["the body is empty"]),
  broken("a name of a file", "@body.json", ["--data-binary @body.json"]),
]

type Expectation = Pick<Mistake, "field" | "words">

/** Sends a command with a field of another type or name. */
function field(mistake: string, changes: object, { field, words }: Expectation): Mistake {
  const [path, status, code] = ["/commands", 422, "invalid_field"] as const
  return { mistake, path, init: command(changes), status, field: field ?? "", code, words }
}

/** Sends such a field in the Job form, whose message names the field. */
function rendition(mistake: string, changes: object, words: string[]): Mistake {
  const outputs = [{ codec: "h264", resolution: "720p", ...changes }]
  const init = json({ source: "https://example.com/a.mp4", outputs })
  const field = `outputs.0.${Object.keys(changes)[0] ?? ""}`
  return { mistake, path: "/transcode", init, status: 400, field, code: "invalid_field", words }
}

const VALUES: Mistake[] = [
  field("a number in quotes", { priority: "50" }, { field: "priority", words: ["write `50`"] }),
  field(
    "hours instead of seconds",
    { expires_in: "2h" },
    { field: "expires_in", words: ["write `7200`"] },
  ),
  field(
    "a number instead of a string",
    { metadata: { a: 7 } },
    { field: "metadata.a", words: ['write `"7"`'] },
  ),
  field(
    "a key that is too long",
    { metadata: { ["a".repeat(65)]: "x" } },
    { field: `metadata.${"a".repeat(65)}`, words: ["keys of at most 64 characters"] },
  ),
  field(
    "an address in a list",
    { webhook: ["https://example.com/"] },
    { field: "webhook", words: ["write the string alone: `https://example.com/`"] },
  ),
  field(
    "an object instead of a string",
    { metadata: { a: { b: "c" } } },
    { field: "metadata.a", words: ["expected a string; it is an object"] },
  ),
  field(
    "an address in an object",
    { webhook: { url: "https://example.com/" } },
    { field: "webhook", words: ["write the string alone: `https://example.com/`"] },
  ),
  {
    mistake: "inputs by key in the Job form",
    path: "/ffmpeg",
    init: json({
      inputs: { in_1: "https://example.com/a" },
      command: "x",
      output_filename: "a.mp4",
    }),
    status: 400,
    field: "inputs",
    code: "invalid_field",
    words: ['inputs: expected an array of URIs; write `["https://example.com/a"]`'],
  },
  {
    mistake: "arguments as a list",
    path: "/ffmpeg",
    init: json({ inputs: [], command: ["-i", "my file.mp4"], output_filename: "a.mp4" }),
    status: 400,
    field: "command",
    code: "invalid_field",
    words: ["it is a list; as one string it is `-i 'my file.mp4'`"],
  },
  {
    mistake: "a time of day for seconds",
    path: "/fetch",
    init: json({ url: "https://example.com/", start: "01:10" }),
    status: 422,
    field: "start",
    code: "invalid_field",
    words: ["write `70`"],
  },
  {
    mistake: "a language's name",
    path: "/transcribe",
    init: json({ file_url: "https://example.com/", language: "German" }),
    status: 422,
    field: "language",
    code: "invalid_field",
    words: ["did you mean `de`?"],
  },
  rendition("a codec's other name", { codec: "HEVC" }, ["did you mean `h265`?"]),
  rendition("an encoder for a codec", { codec: "libx264" }, ["did you mean `h264`?"]),
  rendition("a size in upper case", { resolution: "4K" }, ["did you mean `4k`?"]),
  rendition("a size without its p", { resolution: 720 }, ["did you mean `720p`?"]),
  rendition("a width and a height", { resolution: "1920x1080" }, ["did you mean `1080p`?"]),
  rendition("a container as an extension", { container: ".mp4" }, ["did you mean `mp4`?"]),
  {
    mistake: "loudness without its sign",
    path: "/normalize",
    init: json({ file_url: "https://example.com/a.mp4", loudnorm_i: 16 }),
    status: 422,
    field: "loudnorm_i",
    code: "invalid_field",
    words: ["did you mean `-16`?"],
  },
  {
    mistake: "a list as a body",
    path: "/commands",
    init: json([{}]),
    status: 422,
    field: "body",
    code: "invalid_field",
    words: ["an object of fields; it is a list"],
  },
  {
    mistake: "a body that is encoded as JSON twice",
    path: "/commands",
    init: json(JSON.stringify(JSON.stringify({}))),
    status: 422,
    field: "body",
    code: "invalid_field",
    words: ["write an object, not JSON in a string"],
  },
]

const MAPS: Mistake[] = [
  field(
    "inputs as a list",
    { input_files: ["https://example.com/a.mp4"] },
    { field: "input_files", words: ['as `{"in_1": "https://example.com/a.mp4"}`'] },
  ),
  field(
    "an input as a text",
    { input_files: "https://example.com/a.mp4" },
    { field: "input_files", words: ['as `{"in_1": "https://example.com/a.mp4"}`'] },
  ),
  field(
    "inputs as a list of objects",
    { input_files: [{ key: "a", url: "https://example.com/a.mp4" }] },
    { field: "input_files", words: ['as `{"in_1": "https://example.com/a.mp4"}`'] },
  ),
  field(
    "outputs as a list",
    { output_files: ["a.mp4", "b.mp4"] },
    { field: "output_files", words: ['as `{"out_1": "a.mp4", "out_2": "b.mp4"}`'] },
  ),
  field(
    "a key with a dash",
    { output_files: { "out-1": "a.mp4" } },
    { field: "output_files.out-1", words: ["did you mean `out_1`?"] },
  ),
  field(
    "a key in braces",
    { output_files: { "{{out_1}}": "a.mp4" } },
    { field: "output_files.{{out_1}}", words: ["did you mean `out_1`?"] },
  ),
  field(
    "a file's name for a key",
    { output_files: { "a.mp4": "out_1" } },
    { field: "output_files.a.mp4", words: ['as in `{"out_1": "a.mp4"}`'] },
  ),
]

/** Bodies with malformed JSON or values of another type. */
export const BODY_MISTAKES = [...TEXTS, ...VALUES, ...MAPS]
