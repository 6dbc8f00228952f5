import type { CanaryPaths } from "./canaries.ts"

const TONE = "ffmpeg -f lavfi -i sine=d=0.1"

/** Lines that would do harm if a shell read them; each stands in a request of one output. */
export const SHELL_LINES: [name: string, line: (place: CanaryPaths) => string][] = [
  ["a semicolon", ({ outside }) => `${TONE} -f u8 {{out_1}}; touch ${outside}/x`],
  ["two ampersands", ({ outside }) => `${TONE} -f u8 {{out_1}} && touch ${outside}/x`],
  ["one ampersand", ({ outside }) => `touch ${outside}/x & ${TONE} -f u8 {{out_1}}`],
  [
    "two bars after a failure",
    ({ outside }) => `ffmpeg -i nothing {{out_1}} || touch ${outside}/x`,
  ],
  ["a pipe", ({ outside }) => `${TONE} -y -f u8 {{out_1}} | tee ${outside}/x`],
  [
    "a dollar and parentheses",
    ({ outside }) => `${TONE} -metadata a=$(touch ${outside}/x) {{out_1}} -f u8`,
  ],
  [
    "the same in double quotes",
    ({ outside }) => `${TONE} -metadata a="$(touch ${outside}/x)" -f u8 {{out_1}}`,
  ],
  ["backticks", ({ outside }) => `${TONE} -metadata a=\`touch ${outside}/x\` -f u8 {{out_1}}`],
  ["a second line", ({ outside }) => `${TONE} -f u8 {{out_1}}\ntouch ${outside}/x`],
  ["a redirection", ({ outside }) => `${TONE} -f u8 {{out_1}} > ${outside}/x`],
  ["a redirection of errors", ({ outside }) => `${TONE} -f u8 {{out_1}} 2>> ${outside}/x`],
  ["a redirection that truncates", ({ outside }) => `${TONE} -f u8 {{out_1}} >${outside}/secret`],
  ["a variable before", ({ outside }) => `FFREPORT=file=${outside}/x ${TONE} -f u8 {{out_1}}`],
  ["another program", ({ outside }) => `cp ${outside}/secret {{out_1}}`],
  ["another program by its path", ({ outside }) => `/bin/cp ${outside}/secret {{out_1}}`],
  ["a shell", ({ outside }) => `sh -c 'touch ${outside}/x' {{out_1}}`],
  [
    "a function with the name of ffmpeg",
    ({ outside }) => `ffmpeg() { touch ${outside}/x; }; ffmpeg {{out_1}}`,
  ],
  ["a loop", ({ outside }) => `for a in {{out_1}}; do touch ${outside}/x; done`],
]

/** Objects of a stranger that a hostile request refers to. */
export type Strangers = { fileId: string; downloadUrl: string; ownId: string }

type Body = (place: CanaryPaths, strangers: Strangers) => unknown

const SOUND = "ffmpeg -f lavfi -i sine=d=0.1 -f u8"

function body(differing: Record<string, unknown>): unknown {
  const plain = {
    ffmpeg_command: `${SOUND} out_1`,
    input_files: {},
    output_files: { out_1: "a.u8" },
  }
  return { ...plain, ...differing }
}

function outputNamed(name: unknown): Body {
  return () => body({ output_files: { out_1: name } })
}

function inputFrom(reference: Body): Body {
  return (place, strangers) =>
    body({
      ffmpeg_command: "ffmpeg -f u8 -i in_1 -f u8 out_1",
      input_files: { in_1: reference(place, strangers) },
    })
}

function keyed(key: string): Body {
  return () => body({ ffmpeg_command: `${SOUND} {{${key}}}`, output_files: { [key]: "a.u8" } })
}

function line(text: unknown): Body {
  return () => body({ ffmpeg_command: text })
}

/** Names of outputs that shells, ffmpeg or browsers could misread; each is only a name here. */
export const OUTPUT_NAMES: string[] = [
  "-y",
  "-",
  ".a",
  "a|b.u8",
  "file:a.u8",
  "http:a",
  "pipe:1",
  "concat:a|b.u8",
  "$(touch a).u8",
  "`a`.u8",
  "a;b,c[d]=e.u8",
  "it's.u8",
  'a"b.u8',
  "Q&A #1.u8",
  "50% off.u8",
  "100%%.u8",
  "%s%n.u8",
  "*.u8",
  "{{out_1}}",
  "in_1.u8",
  "__proto__",
  `${"ä".repeat(150)}.u8`,
]

/** Requests that are refused before anything runs. */
export const REFUSED: [name: string, body: Body][] = [
  ...[
    "../a.u8",
    "/tmp/a.u8",
    "a/b.u8",
    "a\\b.u8",
    ".",
    "..",
    "",
    " ",
    "a\nb",
    "a\0b",
    "~/a",
    "a\u202eb.u8",
  ].map((name): [string, Body] => [`an output called ${JSON.stringify(name)}`, outputNamed(name)]),
  ["an output with a very long name", outputNamed(`${"ä".repeat(200)}.u8`)],
  ["an output whose name is no text", outputNamed({ toString: "a" })],
  [
    "two outputs with one name",
    () =>
      body({
        ffmpeg_command: `${SOUND} out_1 -f u8 out_2`,
        output_files: { out_1: "a", out_2: "a" },
      }),
  ],
  [
    "an output with the path of an input",
    (_, { ownId }) =>
      body({
        ffmpeg_command: "ffmpeg -f u8 -i in_1 -f u8 out_1",
        input_files: { in_1: `svc_id://${ownId}` },
        output_files: { out_1: "in_1.txt" },
      }),
  ],
  ...["../x", "a b", "", "a\n", "a.b", "ä", "-y", "x".repeat(65), "$(a)"].map(
    (key): [string, Body] => [`the key ${JSON.stringify(key.slice(0, 9))}`, keyed(key)],
  ),
  ["a file of another account", inputFrom((_, { fileId }) => `svc_id://${fileId}`)],
  ["a link of another account", inputFrom((_, { downloadUrl }) => downloadUrl)],
  ["a path", inputFrom(({ outside }) => `${outside}/secret`)],
  ["a path as a URL", inputFrom(({ outside }) => `file://${outside}/secret`)],
  ["an id with ../", inputFrom(() => "svc_id://../../secrets")],
  ["a private address", inputFrom(({ tcpPort }) => `http://127.0.0.1:${tcpPort}/a`)],
  [
    "a private address in another spelling",
    inputFrom(({ tcpPort }) => `http://0x7f000001:${tcpPort}/a`),
  ],
  ["a reference of another type", inputFrom(() => ({ url: "http://example.com" }))],
  ["a NUL in the command", line(`${SOUND} out_1\0 -i x`)],
  ["an unclosed quote", line(`${SOUND} out_1 "`)],
  ["a backslash at the end", line(`${SOUND} out_1 \\`)],
  ["an empty command", line("")],
  ["a blank command", line(" \n\t")],
  ["the program alone", line("ffmpeg")],
  ["a command with thousands of words", line(`${SOUND} ${"-y ".repeat(5000)} out_1`)],
  ["a command above the maximum length", line(`${SOUND} ${"x".repeat(70_000)} out_1`)],
  ["a command of another type", line({ length: 1 })],
  ["a command in an array", line([`${SOUND} out_1`])],
  [
    "too many commands",
    () =>
      body({
        ffmpeg_command: undefined,
        ffmpeg_commands: Array.from({ length: 21 }, () => `${SOUND} out_1`),
      }),
  ],
  ["an undeclared key of the prototype", line(`${SOUND} out_1 -i {{__proto__}}`)],
  ["an undeclared key that every object has", line(`${SOUND} out_1 -i {{constructor}}`)],
  ["files in an array", () => body({ input_files: ["a"] })],
  ["no outputs", () => body({ output_files: {} })],
  ["null as files", () => body({ input_files: null })],
  ["an unknown field", () => body({ run_seconds_max: 999_999 })],
  ["a path of the state in the fields", () => body({ io: { origin: "http://127.0.0.1:1" } })],
]
