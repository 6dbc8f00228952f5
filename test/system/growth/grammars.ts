/** Makes a text of about so many characters. */
export type Grow = (length: number) => string

/** Repeats a text; `#` in it becomes the number of the repetition. */
function repeat(text: string, separator = ""): Grow {
  if (!text.includes("#")) {
    const part = `${text}${separator}`
    return (length) => part.repeat(Math.ceil(length / part.length))
  }
  return (length) => {
    const parts: string[] = []
    for (let size = 0, place = 0; size < length; place += 1) {
      const part = text.replaceAll("#", String(place))
      parts.push(part)
      size += part.length + separator.length
    }
    return parts.join(separator)
  }
}

/** Puts a text that grows between two that do not. */
function within(before: string, inner: string, after: string): Grow {
  const grow = repeat(inner)
  return (length) => `${before}${grow(length)}${after}`
}

/** Texts that any field may hold. */
export const TEXTS: readonly Grow[] = [
  ...["a", " ", "\n", "../", "%41", "\u{1F600}", '"', "\\", "{{", "$(", "1", "-", ".", "é"].map(
    (part) => repeat(part),
  ),
  within("http://127.0.0.1/", "a/", ""),
  within("http://", "a.", "/film.mp4"),
  within("http://127.0.0.1/?", "a=b&", ""),
  within("svc_id://", "0", ""),
  within("s3://bucket/", "a/", ""),
  within("{", '"#": 1, ', '"last": 1}'),
  within("[", "[", ""),
]

/** Filter graphs, as the value of -vf and of -filter_complex. */
const GRAPHS: readonly Grow[] = [
  ...[
    "null",
    "nosuch#",
    "scale=iw/2:ih/2",
    "scale=nosuch#=1",
    "pad=iw+1:ih+1",
    "trim=0:1",
    "split=64",
    "drawtext=text=a:fontfile=font.ttf",
    "movie=a#.mp4",
  ].map((filter) => repeat(filter, ",")),
  ...[
    "null",
    "[0:v]null[a]",
    "[0:v]null[a#]",
    "[a#]null[b#]",
    "[a#][0:v]overlay[b#]",
    "concat=64:64:64",
    "concat=n=30:v=64:a=64",
    "hstack=64",
    "xstack=grid=8x8",
    "split=64",
    "testsrc=d=1",
  ].map((filter) => repeat(filter, ";")),
  within("", "[a#]", "hstack"),
  within("[0:a]asplit", "[a#]", ""),
  within("scale=", "nosuch#=1:", "w=1"),
  within("scale=", "w=1:", "h=2"),
  within("scale=", ":", ""),
  within("scale=w=", "1+", "1:h=2"),
  within("scale=w=", "(", ":h=2"),
  within("scale=w=", "-", "1:h=2"),
  within("scale=w=", "2^", "1:h=2"),
  within("scale=w='", "if(1,", "':h=2"),
  within("crop=", "a", ""),
  within("scale=", "9", ":1"),
  within("select='", "eq(n,#)+", "0'"),
  within("null=enable='", "between(t,1,2)+", "1'"),
  within("format=", "yuv42#|", "yuv420p"),
  within("aformat=channel_layouts=", "stereox#|", "mono"),
  within("pan=stereo|", "c0=c0+c1|", "c1=c1"),
  within("amix=weights='", "1 ", "1'"),
  within("drawtext=text='", "%{pts}", "'"),
  within("null", " ", ",null"),
  within("null@", "@", ""),
  within("sws_flags=", "a+", ";null"),
  ...["'", "''", "\\", ",", ";", "=", "[", "[]", "[a]"].map((part) => repeat(part)),
]

/** Words of a command, between its input and its output. */
const WORDS: readonly Grow[] = [
  ...[
    "-map 0",
    "-map 0:v:#",
    "-map [a#]",
    "-map -0:a",
    "-c:v libx264",
    "-c:# libx264",
    "-c:a libx#",
    "-nosuch# y",
    "-metadata a=#",
    "-vf null",
    "-filter:v:# null",
    "-filter_complex null",
    "-filter_complex [0:v]null[q#] -map [q#]",
    "-filter_complex concat=n=30:v=64:a=64",
    "-ss #",
    "-t 1",
    "-b:v #k",
    "-an",
    "-disposition:v:# default",
    "-attach a#.ttf",
    "-i {{in_1}}",
    "-i a#.mp4",
    "-f lavfi -i testsrc=d=1",
    "-stream_loop -1",
    "-k#=v",
    "{{out_1}}",
    "a#.mp4",
    "-map 0:v a#.mp4",
    "{{k#}}",
    "{{in_1}}",
    "{{",
    "{",
    "-",
    "--",
    "$A",
    "`",
    "|",
    "&& ffmpeg",
    "> x",
    "“a”",
    "/home/a#",
    "http://a#/",
    "'a'",
    "\\\n",
  ].map((word) => repeat(word, " ")),
  within("-map 0:m:", "a", ""),
  within("-map 0:v", ":0", ""),
  within("-metadata a=", "b", ""),
  within("-x264-params ", "a#=1:", "b=1"),
  within("-flags ", "+cg#", ""),
  within("-bsf:v ", "nul#,", "null"),
  within("-bsf:v h264_metadata=", "a#=1:", "b=1"),
  within("-ss ", "1:", "1"),
  within("-ss ", "1", ""),
  within("-b:v ", "9", "k"),
  within("-f ", "a,", "mp4"),
  within("-f tee ", "[f=mp4]a#.mp4|", "b.mp4"),
  within("-i concat:", "in_1.mp4|", "in_1.mp4"),
  within("-f lavfi -i ", "testsrc=d=1,", "null"),
  within("-force_key_frames expr:", "gte(t,#)+", "1"),
  within("-force_key_frames ", "#,", "1"),
  within("-c", ":v", " copy"),
  within("-", "a", " 1"),
  within("{{", " ", "in_1}}"),
  within("'", "a ", ""),
  ...["\\\\", "/", "../", ".", "%", "%d", "=", "\n", '\\"'].map((part) => repeat(part)),
]

/** Whole commands, of which each is long in another way. */
export const COMMANDS: readonly Grow[] = [
  ...GRAPHS.flatMap((graph): Grow[] => [
    (length) => `ffmpeg -i {{in_1}} -vf "${graph(length)}" {{out_1}}`,
    (length) => `ffmpeg -i {{in_1}} -filter_complex "${graph(length)}" {{out_1}}`,
  ]),
  ...WORDS.flatMap((words): Grow[] => [
    (length) => `ffmpeg -i {{in_1}} ${words(length)} {{out_1}}`,
    (length) => `ffmpeg ${words(length)} -i {{in_1}} {{out_1}}`,
  ]),
  ...["a", " ", "ffmpeg ", "sudo ", "A=b ", '"', "'"].map((part) => repeat(part)),
]
