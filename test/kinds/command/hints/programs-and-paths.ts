import type { CommandMistake } from "./mistake.ts"

/** Lines that do not begin with ffmpeg, or that cannot be split. */
export const MISTAKES_IN_PROGRAMS: CommandMistake[] = [
  ["ffprobe -i {{in_1}}", "not_ffmpeg", "GET /v1/files/{id}"],
  ["yt-dlp https://a.example/x", "not_ffmpeg", "POST /v1/fetch"],
  ["wget https://a.example/x.mp4", "not_ffmpeg", "input_files"],
  ["whisper {{in_1}}", "not_ffmpeg", "POST /v1/transcribe"],
  ["convert {{in_1}} -resize 50% {{out_1}}", "not_ffmpeg", "`ffmpeg -i {{in_1}} -vf scale"],
  ["avconv -i {{in_1}} {{out_1}}", "not_ffmpeg", "write ffmpeg instead"],
  ["sudo ffmpeg -i {{in_1}} {{out_1}}", "not_ffmpeg", "leave out `sudo`"],
  ["$ ffmpeg -i {{in_1}} {{out_1}}", "not_ffmpeg", "leave out `$`"],
  ["cd /tmp && ffmpeg -i {{in_1}} {{out_1}}", "not_ffmpeg", "leave out `cd /tmp &&`"],
  ["nice -n 10 ffmpeg -i {{in_1}} {{out_1}}", "not_ffmpeg", "leave out `nice -n 10`"],
  ["docker run --rm me/ffmpeg -i {{in_1}} {{out_1}}", "not_ffmpeg", "write ffmpeg instead of"],
  ["./ffmpeg -i {{in_1}} {{out_1}}", "not_ffmpeg", "write ffmpeg alone"],
  ["ffmpeg.exe -i {{in_1}} {{out_1}}", "not_ffmpeg", "write ffmpeg alone"],
  [String.raw`C:\ffmpeg\ffmpeg.exe -i {{in_1}} {{out_1}}`, "not_ffmpeg", "write ffmpeg alone"],
  ["FFmpeg -i {{in_1}} {{out_1}}", "not_ffmpeg", "lowercase"],
  ["ffmpg -i {{in_1}} {{out_1}}", "not_ffmpeg", "did you mean `ffmpeg`?"],
  ["for f in *.mp4; do ffmpeg -i $f x.mp3; done", "not_ffmpeg", "a command for each file"],
  ['"ffmpeg -i {{in_1}} {{out_1}}"', "not_ffmpeg", "leave out the quotes"],
  ["```ffmpeg -i {{in_1}} {{out_1}}```", "not_ffmpeg", "leave out the backticks"],
  ["-i {{in_1}} {{out_1}}", "not_ffmpeg", "write ffmpeg before it"],
  ["Please make it smaller", "not_ffmpeg", "`ffmpeg -i {{in_1}} {{out_1}}`"],
  ["ffmpeg", "empty_command", "`ffmpeg -i {{in_1}} {{out_1}}`"],
  ["  ", "empty_command", "`ffmpeg -i {{in_1}} {{out_1}}`"],
  ["ffmpeg -i {{in_1}} -metadata title=It's {{out_1}}", "unreadable_command", "double quotes"],
  ['ffmpeg -i {{in_1}} -vf "hflip {{out_1}}', "unreadable_command", 'write another " where'],
  [
    "ffmpeg -i {{in_1}} {{out_1}} \\",
    "unreadable_command",
    "lone backslash; leave the backslash out",
  ],
]

const UPLOAD = "upload it with POST /v1/files"

/** Values of -i that are no keys. */
export const MISTAKES_IN_PATHS: CommandMistake[] = [
  ["-i ./a.mp4 {{out_1}}", "path_not_allowed", UPLOAD],
  ["-i ../a.mp4 {{out_1}}", "path_not_allowed", UPLOAD],
  ["-i videos/a.mp4 {{out_1}}", "path_not_allowed", UPLOAD],
  ["-i ~/a.mp4 {{out_1}}", "path_not_allowed", UPLOAD],
  ["-i D:/a.mp4 {{out_1}}", "path_not_allowed", UPLOAD],
  ["-i file:///home/me/a.mp4 {{out_1}}", "url_not_allowed", UPLOAD],
  [String.raw`-i videos\a.mp4 {{out_1}}`, "unknown_key", String.raw`videos\a.mp4`],
  ["-i www.a.example/a.mp4 {{out_1}}", "url_not_allowed", "https:// before it"],
  ["-i svc_id://0198f0b2-7c11-7cc3-9f3e-0a6b3d2f1a11 {{out_1}}", "url_not_allowed", "by keys"],
  ["-i lesson.mp4 {{out_1}}", "unknown_key", "write {{in_1}} here"],
  ["-i {{in-1}} {{out_1}}", "unknown_key", "did you mean `{{in_1}}`?"],
  ["-i {{in_1}} {{out.mp4}}", "unknown_key", "did you mean `{{out_1}}`?"],
  ["-i [{{in_1}}] {{out_1}}", "name_not_allowed", "write `-i {{in_1}}`"],
  ["-i ({{in_1}}) {{out_1}}", "name_not_allowed", "write `-i {{in_1}}`"],
  ["-i {{in_1}} -f mp4 -", "unused_output", "write {{out_1}} where its file goes"],
  ["-i {{in_1}} -f mp4 pipe:3", "stdio_not_allowed", "write `{{out_1}}` here"],
  [
    '-i {{in_sil}} -filter_complex "[0:a]volume=2[a]" -map "[a]" {{out_1}}',
    "stream_not_found",
    "leave out the filters of this stream",
  ],
]
