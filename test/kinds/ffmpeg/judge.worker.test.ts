import { describe, expect, test } from "vitest"
import { replaceFileKeysByNames } from "../../../src/ffmpeg/file-keys.ts"
import { makeWorkspaceInputName, getWorkspaceOutputNames } from "../../../src/contract/task.ts"
import { draftTaskOutputs } from "../../../src/kinds/command/output-names.ts"
import { findFfmpegRequestFaults } from "../../../src/kinds/ffmpeg/request-faults.ts"
import { parseFfmpegRequest } from "../../../src/kinds/ffmpeg/parse-request.ts"
import { readValidFfmpegFields } from "../../../src/kinds/ffmpeg/request.ts"
import { getInputUrl } from "../../../src/kinds/private-input.ts"

const FILM = "https://h.example/film.mp4"
const TEXTS = "https://h.example/texts.srt?lang=de&v=1"

/** Builds a request with a command on two inputs, and optionally a name of the output. */
function ask(command: string, output_filename?: string, inputs: unknown = [FILM, TEXTS]) {
  return readValidFfmpegFields({ inputs, command, output_filename })
}

function faultsOf(request: ReturnType<typeof ask>, malformed: string[] = []) {
  return findFfmpegRequestFaults(request, foundOf(request), new Set(malformed)).map(
    ({ field, message }) => `${field}: ${message}`,
  )
}

/** Returns the inputs of a request as URLs to import. */
function foundOf({ inputs }: ReturnType<typeof ask>) {
  return inputs.flatMap((input, place) => {
    if (input === null) return []
    const url = getInputUrl(input)
    const name = url.split("/").at(-1)?.split("?")[0] ?? ""
    const source = { url, sourceUrl: url, name }
    return [{ key: `in_${place + 1}`, field: `inputs.${place}`, fileId: url, file: null, source }]
  })
}

/** Returns the words for ffmpeg, and the output's name. */
function planned(request: ReturnType<typeof ask>) {
  expect(faultsOf(request)).toEqual([])
  const { words, output } = parseFfmpegRequest(request)
  const names = new Map(
    foundOf(request).map(({ key, source }) => [key, makeWorkspaceInputName(key, source.name)]),
  )
  const all = new Map([
    ...names,
    ...getWorkspaceOutputNames(draftTaskOutputs(output ? [output] : [], [words])),
  ])
  return [replaceFileKeysByNames(words, all).join(" "), output?.name]
}

describe("the output", () => {
  test.for<[string, string | undefined, string, string]>([
    ["ffmpeg -i {{in_1}} -c copy {{out_1}}", "a.mkv", "-i in_1.mp4 -c copy a.mkv", "a.mkv"],
    [String.raw`-i \{\{in_1\}\} \{\{out_1\}\}`, "a.mkv", "-i in_1.mp4 a.mkv", "a.mkv"],
    ["-i in_1 out_1", "a.mkv", "-i in_1.mp4 a.mkv", "a.mkv"],
    ["-i in_1 a.mkv", "a.mkv", "-i in_1.mp4 a.mkv", "a.mkv"],
    ["-i in_1 'my film.mkv' -y", "my film.mkv", "-i in_1.mp4 my film.mkv -y", "my film.mkv"],
    ["-i in_1 -c copy", "a.mkv", "-i in_1.mp4 -c copy a.mkv", "a.mkv"],
    [
      "-i in_1 -vf drawtext=text=a.mkv -metadata a.mkv",
      "a.mkv",
      "-i in_1.mp4 -vf drawtext=text=a.mkv -metadata a.mkv a.mkv",
      "a.mkv",
    ],
    ["-i in_1 -c copy", "it's.mkv", "-i in_1.mp4 -c copy it_s.mkv", "it's.mkv"],
    ['-i in_1 "it\'s.mkv"', "it's.mkv", "-i in_1.mp4 it_s.mkv", "it's.mkv"],
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
    "-i in_1.mp4 -f md5 -",
    "-i in_1.mp4 -map 0:v -f framemd5 pipe:1",
    "-i in_1.mp4 -i in_2.srt -map 0:v -f NULL - -map 0:a -f null -",
  ])("is null if %s keeps no file", (line) => {
    expect(planned(ask(line.replaceAll(/(in_\d)\.\w+/g, "$1")))).toEqual([line, undefined])
  })
})

describe("a fault names its field", () => {
  test.for<[string, string | undefined, string[]]>([
    [
      "-i in_1 {{out_1}}",
      undefined,
      [
        "output_filename: expected a file name whose extension selects the format of out_1, as in output.mp4",
      ],
    ],
    [
      "-i in_1 out_1",
      undefined,
      [
        "output_filename: expected a file name whose extension selects the format of out_1, as in output.mp4",
      ],
    ],
    [
      "-i in_1 -c copy",
      undefined,
      ["output_filename: expected a file name here or at the end of the command, as in output.mp4"],
    ],
    [
      "-i in_1 out.mp4",
      "final.mp4",
      [
        'output_filename: the command writes "out.mp4", but output_filename is "final.mp4": give only one of the names, or write {{out_1}} for the output',
      ],
    ],
    [
      "-i in_1 a.mp4 b.mp4",
      undefined,
      [
        'command: the command writes "a.mp4" besides its one output, "b.mp4"; leave it out, or use POST /commands, which has several outputs',
      ],
    ],
    [
      "-i in_1 {{out_1}} b.mp4",
      "a.mp4",
      [
        'command: the command writes "b.mp4" besides its one output, "a.mp4"; leave it out, or use POST /commands, which has several outputs',
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
        'command: -i: "film.mp4" is not one of inputs; write an input by its number, as in {{in_1}}, or by its URI',
      ],
    ],
    [
      "-i in_3 out.mp4",
      undefined,
      ['command: "in_3" is neither an input (in_1, in_2 and so on) nor the output (out_1)'],
    ],
    [
      "-i {{in_0}} {{out_1}}",
      "a.mp4",
      ['command: "in_0" is neither an input (in_1, in_2 and so on) nor the output (out_1)'],
    ],
    [
      "-i in_1 out_2",
      undefined,
      ['command: "out_2" is neither an input (in_1, in_2 and so on) nor the output (out_1)'],
    ],
    [
      "-i in_1 in_2",
      undefined,
      [
        "command: `in_2` is an input, and a command cannot overwrite its inputs; write the output here, as {{out_1}} with output_filename",
      ],
    ],
    [
      `-i ${FILM}?other out.mp4`,
      undefined,
      [
        `command: -i: "${FILM}?other": a command cannot reach a network or a URL; give the same URL in inputs`,
      ],
    ],
    [
      "-i in_1 /tmp/out.mp4",
      undefined,
      [
        'command: output "/tmp/out.mp4": paths and folders are not allowed, since a command has only one folder; write the output here, as {{out_1}} with output_filename',
      ],
    ],
    [
      "-i in_1 {{out_1}}.mp4",
      "a",
      [
        "command: `{{out_1}}.mp4` writes a file that is not an output; write `{{out_1}}` alone, since the extension is a part of its name",
      ],
    ],
    [
      "-i in_1 -vf",
      "a.mp4",
      [
        "command: `-vf` has no value: the command ends after it; write one, as in `-vf scale=1280:-2`",
      ],
    ],
    [
      "-i in_1 a$b.mp4",
      undefined,
      [
        "command: expected a file name of letters, digits, spaces and . _ - ( ) + @ % that begins with a letter, a digit, an underscore or a percent sign; give any other name as output_filename",
      ],
    ],
    ["-i in_1", "a/b.mp4", ["output_filename: expected a file name without a folder"]],
    ["-i in_2", "in_1.mp4", ["output_filename: another file of this command is called in_1.mp4"]],
    [
      "ffprobe -i in_1",
      "a.mp4",
      [
        "command: expected a command that begins with an option or ffmpeg, not with `ffprobe`; GET /v1/files/{id} returns the ffprobe data of a file",
      ],
    ],
    [
      "-i in_1 'a.mp4",
      undefined,
      [
        "command: the command cannot be split into words: the ' in \"-i in_1 'a.mp4\" is opened and never closed; write another ' where it ends",
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
        "command: expected a file name of letters, digits, spaces and . _ - ( ) + @ % that begins with a letter, a digit, an underscore or a percent sign; give any other name as output_filename",
      ],
    ],
  ])("%s with %s", ([command, given, faults]) => {
    expect(faultsOf(ask(command, given))).toEqual(faults)
  })

  test("the policy's refusals have code, field and message", () => {
    const messages = faultsOf(ask("-i in_1 -vf movie=/etc/passwd -report -f mp4 pipe:3"))
    expect(messages.map((fault) => fault.slice(0, 42))).toEqual([
      "command: -vf: the filter movie, filename: ",
      "command: -report writes a log file of its ",
      'command: output "pipe:3": an output may be',
    ])
    expect(messages[0]).toContain(
      "give the URI of the file in inputs and write its key here, as in {{in_2}}",
    )
  })

  test("a fault that the schema reports is not reported again", () => {
    expect(faultsOf(ask("-i {{in_1}} out.mp4", undefined, "x"), ["inputs"])).toEqual([])
    expect(faultsOf(ask("-i in_2 {{out_1}}"), ["output_filename"])).toEqual([])
    expect(faultsOf(readValidFfmpegFields({ inputs: [1, FILM] }), ["inputs", "command"])).toEqual(
      [],
    )
  })
})

test("an input that is no text does not change the positions of the others", () => {
  const { script, words } = parseFfmpegRequest(ask(`-i ${FILM} a.mp4`, undefined, [7, FILM]))
  expect([script.inputKeys, words]).toEqual([
    ["in_1", "in_2"],
    ["-i", "{{in_2}}", "{{out_1}}"],
  ])
})
