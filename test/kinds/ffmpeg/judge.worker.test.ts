import { describe, expect, test } from "vitest"
import { substitute } from "../../../src/contract/tasks/command.ts"
import { inputName } from "../../../src/contract/task.ts"
import { judgeFfmpeg } from "../../../src/kinds/ffmpeg/judge.ts"
import { readRequest } from "../../../src/kinds/ffmpeg/read-request.ts"
import { readUsable } from "../../../src/kinds/ffmpeg/request.ts"

const FILM = "https://h.example/film.mp4"
const TEXTS = "https://h.example/texts.srt?lang=de&v=1"

/** Asks for a command on two inputs; a name of the output where one is given. */
function ask(command: string, output_filename?: string, inputs: unknown = [FILM, TEXTS]) {
  return readUsable({ inputs, command, output_filename })
}

function faultsOf(request: ReturnType<typeof ask>, malformed: string[] = []) {
  return judgeFfmpeg(request, foundOf(request), new Set(malformed)).map(
    ({ field, message }) => `${field}: ${message}`,
  )
}

/** The inputs of a request as URLs that are to be brought in. */
function foundOf({ inputs }: ReturnType<typeof ask>) {
  return inputs.flatMap((url, place) => {
    if (url === null) return []
    const name = url.split("/").at(-1)?.split("?")[0] ?? ""
    const source = { url, sourceUrl: url, name }
    return [{ key: `in_${place + 1}`, field: `inputs.${place}`, fileId: url, file: null, source }]
  })
}

/** What ffmpeg is told, and the output's name. */
function planned(request: ReturnType<typeof ask>) {
  expect(faultsOf(request)).toEqual([])
  const { words, output } = readRequest(request)
  const names = new Map(
    foundOf(request).map(({ key, source }) => [key, inputName(key, source.name)]),
  )
  const all = new Map([...names, ...(output ? [[output.key, output.name] as const] : [])])
  return [substitute(words, all).join(" "), output?.name]
}

describe("the output", () => {
  test.for<[string, string | undefined, string, string]>([
    ["ffmpeg -i {{in_1}} -c copy {{out_1}}", "a.mkv", "-i in_1.mp4 -c copy a.mkv", "a.mkv"],
    [String.raw`-i \{\{in_1\}\} \{\{out_1\}\}`, "a.mkv", "-i in_1.mp4 a.mkv", "a.mkv"],
    ["-i in_1 out_1", "a.mkv", "-i in_1.mp4 a.mkv", "a.mkv"],
    ["-i in_1 a.mkv", "a.mkv", "-i in_1.mp4 a.mkv", "a.mkv"],
    ["-i in_1 'my film.mkv' -y", "my film.mkv", "-i in_1.mp4 my film.mkv -y", "my film.mkv"],
    ["-i in_1 -c copy", "a.mkv", "-i in_1.mp4 -c copy a.mkv", "a.mkv"],
    ["-i in_1 -shortest", "a.mkv", "-i in_1.mp4 -shortest a.mkv", "a.mkv"],
    ["-i in_1 -c copy a.mkv", undefined, "-i in_1.mp4 -c copy a.mkv", "a.mkv"],
    ["-i in_1 -c copy a.mkv -y", undefined, "-i in_1.mp4 -c copy a.mkv -y", "a.mkv"],
    [
      `-i ${FILM} -vf subtitles=${TEXTS} b.mp4`,
      undefined,
      "-i in_1.mp4 -vf subtitles=in_2.srt b.mp4",
      "b.mp4",
    ],
    ["-i in_1 -f hls index.m3u8", undefined, "-i in_1.mp4 -f hls index.m3u8", "index.m3u8"],
    ["-i in_1 -f segment", "s_%03d.ts", "-i in_1.mp4 -f segment s_%03d.ts", "s_%03d.ts"],
    [
      "-i in_1 -f segment -segment_list out_1 s_%03d.ts",
      "list.m3u8",
      "-i in_1.mp4 -f segment -segment_list list.m3u8 s_%03d.ts",
      "list.m3u8",
    ],
    [
      "-i in_1 -vf vidstabdetect=result=moves.trf -f null -",
      "moves.trf",
      "-i in_1.mp4 -vf vidstabdetect=result=moves.trf -f null -",
      "moves.trf",
    ],
    [
      "-i in_1 -map 0:a -f null - -map 0:v",
      "a.mkv",
      "-i in_1.mp4 -map 0:a -f null - -map 0:v a.mkv",
      "a.mkv",
    ],
    [
      "-i in_1 -f tee '[f=mp4]{{out_1}}|[f=null]-'",
      "a.mp4",
      "-i in_1.mp4 -f tee [f=mp4]a.mp4|[f=null]-",
      "a.mp4",
    ],
  ])("of %s with %s", ([command, given, line, name]) => {
    expect(planned(ask(command, given))).toEqual([line, name])
  })

  test.for([
    "-i in_1.mp4 -af volumedetect -f null -",
    "-i in_1.mp4 -vf blackdetect -an -f null /dev/null",
    "-i in_1.mp4 -i in_2.srt -map 0:v -f NULL - -map 0:a -f null -",
  ])("is none where %s keeps no file", (line) => {
    expect(planned(ask(line.replaceAll(/(in_\d)\.\w+/g, "$1")))).toEqual([line, undefined])
  })
})

describe("a fault names its field", () => {
  test.for<[string, string | undefined, string[]]>([
    [
      "-i in_1 {{out_1}}",
      undefined,
      ["output_filename: give it, since its extension says what out_1 is to be, as in output.mp4"],
    ],
    [
      "-i in_1 out_1",
      undefined,
      ["output_filename: give it, since its extension says what out_1 is to be, as in output.mp4"],
    ],
    [
      "-i in_1 -c copy",
      undefined,
      ["output_filename: give it, or end the command with the output's name, as in output.mp4"],
    ],
    [
      "-i in_1 out.mp4",
      "final.mp4",
      [
        'output_filename: the command writes "out.mp4", and this is "final.mp4": give one of the two names, or write {{out_1}} where the output goes',
      ],
    ],
    [
      "-i in_1 a.mp4 b.mp4",
      undefined,
      [
        'command: the command writes "a.mp4" beside its one output, "b.mp4"; leave it out, or use POST /commands, which has several outputs',
      ],
    ],
    [
      "-i in_1 {{out_1}} b.mp4",
      "a.mp4",
      [
        'command: the command writes "b.mp4" beside its one output, "a.mp4"; leave it out, or use POST /commands, which has several outputs',
      ],
    ],
    [
      "-i in_1 out_1 out_1",
      "a.mp4",
      ['command: the command writes its one output, "a.mp4", twice: name it once, at the end'],
    ],
    [
      "-i film.mp4 out.mp4",
      undefined,
      [
        'command: -i: "film.mp4" is none of inputs; name one by its place, as {{in_1}}, or by its URI',
      ],
    ],
    [
      "-i in_3 out.mp4",
      undefined,
      [
        'command: "in_3" is neither an input, of which the first is in_1, nor the output, which is out_1',
      ],
    ],
    [
      "-i {{in_0}} {{out_1}}",
      "a.mp4",
      [
        'command: "in_0" is neither an input, of which the first is in_1, nor the output, which is out_1',
      ],
    ],
    [
      "-i in_1 out_2",
      undefined,
      [
        'command: "out_2" is neither an input, of which the first is in_1, nor the output, which is out_1',
      ],
    ],
    [
      "-i in_1 in_2",
      undefined,
      [
        "command: `in_2` is an input, and no input is written over; name the output here, as {{out_1}} with output_filename",
      ],
    ],
    [
      `-i ${FILM}?other out.mp4`,
      undefined,
      [
        `command: -i: "${FILM}?other": a command reaches no network and no URL; give the same URL in inputs`,
      ],
    ],
    [
      "-i in_1 /tmp/out.mp4",
      undefined,
      [
        'command: output "/tmp/out.mp4": paths and folders are not allowed, since a command has one folder and nothing else; name the output here, as {{out_1}} with output_filename',
      ],
    ],
    [
      "-i in_1 {{out_1}}.mp4",
      "a",
      [
        "command: `{{out_1}}.mp4` writes a file that is no output; write `{{out_1}}` alone, since the extension is a part of its name",
      ],
    ],
    [
      "-i in_1 -vf",
      "a.mp4",
      [
        "command: `-vf` has no value: the command ends behind it; write one, as `-vf scale=1280:-2`",
      ],
    ],
    [
      "-i in_1 a$b.mp4",
      undefined,
      [
        "command: expected a file name of letters, digits, spaces and . _ - ( ) + @ that begins with a letter, a digit or an underscore, up to 200 characters",
      ],
    ],
    ["-i in_1", "a/b.mp4", ["output_filename: expected a file name without a folder"]],
    ["-i in_2", "in_1.mp4", ["output_filename: another file of this command is called in_1.mp4"]],
    [
      "ffprobe -i in_1",
      "a.mp4",
      [
        "command: expected a command that begins with an option or ffmpeg, not with `ffprobe`; what ffprobe says of a file stands in its record, as GET /v1/files/{id} answers it",
      ],
    ],
    [
      "-i in_1 'a.mp4",
      undefined,
      [
        "command: it cannot be split into words: the ' in \"-i in_1 'a.mp4\" is opened and never closed; write another ' where it ends",
      ],
    ],
    [
      "ffmpeg",
      "a.mp4",
      [
        "command: expected options and an output after ffmpeg, as in `ffmpeg -i {{in_1}} {{out_1}}`",
      ],
    ],
    [
      "-i in_1 -f tee '[f=mp4]a.mp4|b.mkv'",
      undefined,
      [
        "command: expected a file name of letters, digits, spaces and . _ - ( ) + @ that begins with a letter, a digit or an underscore, up to 200 characters",
      ],
    ],
  ])("%s with %s", ([command, given, faults]) => {
    expect(faultsOf(ask(command, given))).toEqual(faults)
  })

  test("of the policy with each thing that it says", () => {
    const told = faultsOf(ask("-i in_1 -vf movie=/etc/passwd -report -f mp4 -"))
    expect(told.map((fault) => fault.slice(0, 42))).toEqual([
      "command: -vf: the filter movie, filename: ",
      "command: -report writes a log file of its ",
      'command: output "-": a command has no stan',
    ])
    expect(told[0]).toContain("give the file's URI in inputs and name it here, as {{in_2}}")
  })

  test("that its schema has told already is not told again", () => {
    expect(faultsOf(ask("-i {{in_1}} out.mp4", undefined, "x"), ["inputs"])).toEqual([])
    expect(faultsOf(ask("-i in_2 {{out_1}}"), ["output_filename"])).toEqual([])
    expect(faultsOf(readUsable({ inputs: [1, FILM] }), ["inputs", "command"])).toEqual([])
  })
})

test("an input that is no text leaves the others at their places", () => {
  const { script, words } = readRequest(ask(`-i ${FILM} a.mp4`, undefined, [7, FILM]))
  expect([script.inputKeys, words]).toEqual([
    ["in_1", "in_2"],
    ["-i", "{{in_2}}", "{{out_1}}"],
  ])
})
