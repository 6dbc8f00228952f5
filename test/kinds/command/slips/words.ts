import type { Slip } from "./slip.ts"

const FLIP = "-i {{in_1}} -vf hflip {{out_1}}"

/** What a shell, an editor or a batch file would have read. */
export const SLIPS_OF_WORDS: Slip[] = [
  [`${FLIP} && echo done`, "name_not_allowed", "`&& echo done`: no shell reads this"],
  [`${FLIP} && ffmpeg -i {{in_1}} x.mp4`, "name_not_allowed", "ffmpeg_commands"],
  [`${FLIP} ; ffmpeg -i {{in_1}} x.mp4`, "name_not_allowed", "ffmpeg_commands"],
  [`${FLIP}; rm x`, "name_not_allowed", "from the `;` on"],
  [`${FLIP} || true`, "name_not_allowed", "`|| true`"],
  [`${FLIP} &`, "name_not_allowed", "a job runs on its own"],
  [`${FLIP} > log.txt`, "name_not_allowed", "`> log.txt`"],
  [`${FLIP} > /dev/null 2>&1`, "name_not_allowed", "leave it out"],
  [`${FLIP} 2>/dev/null`, "name_not_allowed", "kept with the job"],
  [`${FLIP} </dev/null`, "name_not_allowed", "leave it out"],
  [
    "-i {{in_1}} -f mp4 - > x.mp4",
    "name_not_allowed",
    "`- > x.mp4`: no shell reads this; write `{{out_1}}` instead",
  ],
  ["-i {{in_1}} -f mp4 - | cat", "name_not_allowed", "end the command with `{{out_1}}`"],
  [`${FLIP} # turns it`, "name_not_allowed", "no comments"],
  ["-i {{in_1}} ^\n -an ^\n {{out_1}}", "name_not_allowed", "a new line needs no mark"],
  ["-i {{in_1}} `\n -an {{out_1}}", "name_not_allowed", "a new line needs no mark"],
  ["-i $(ls *.mp4) {{out_1}}", "value_not_allowed", "`$(ls *.mp4)`: no shell"],
  ["-i {{in_1}} -t `cat t.txt` {{out_1}}", "value_not_allowed", "no shell"],
  ["-i %~1 {{out_1}}", "value_not_allowed", "write `{{in_1}}`"],
  ["-i %1 {{out_1}}", "unknown_key", "{{in_1}}"],
  ["-i $in_1 $out_1", "value_not_allowed", "{{in_1}}"],
  ["-i ${input} {{out_1}}", "value_not_allowed", "{{in_1}}"],
  ["-i {in_1} {{out_1}}", "value_not_allowed", "{{in_1}}"],
  ["-i {{in_1}} {out_1}", "value_not_allowed", "write it as {{out_1}}"],
  ["-i {{in_1} {{out_1}}", "value_not_allowed", "{{in_1}}"],
  ["-i {{{in_1}}} {{out_1}}", "value_not_allowed", "{{in_1}}"],
  ["-i <in_1> <out_1>", "name_not_allowed", "`{{in_1}}`"],
  ["-i {{in_1}} –crf 20 {{out_1}}", "name_not_allowed", "write `-crf`"],
  ["-i {{in_1}} —vf hflip {{out_1}}", "name_not_allowed", "write `-vf`"],
  // Quotes that are taken off, and graphs and values in several words
  [
    "-i {{in_1}} -vf scale='min(1280,iw)':-2 {{out_1}}",
    "filter_error",
    "`-vf \"scale='min(1280,iw)':-2\"`",
  ],
  [
    "-i {{in_1}} -vf subtitles={{in_2}}:force_style='FontSize=24,Bold=1' {{out_1}}",
    "filter_error",
    "put the whole graph into double quotes",
  ],
  ["-i {{in_1}} -vf drawtext=text='Hello, World':x=10 {{out_1}}", "filter_error", "double quotes"],
  [
    "-i {{in_1}} -filter_complex [0:v]crop='min(iw,ih)':ih[v] -map [v] {{out_1}}",
    "filter_error",
    "double quotes",
  ],
  [
    "-i {{in_1}} -vf scale=1280:720, fps=30 {{out_1}}",
    "filter_error",
    '`-vf "scale=1280:720, fps=30"`',
  ],
  [
    "-i {{in_1}} -filter_complex [0:v]hflip[v]; [0:a]volume=2[a] -map [v] -map [a] {{out_1}}",
    "filter_error",
    '"[0:v]hflip[v]; [0:a]volume=2[a]"',
  ],
  [
    "-i {{in_1}} -metadata title=My Film {{out_1}}",
    "invalid_option",
    '`-metadata title="My Film"`',
  ],
  ["-i {{in_1}} -b:v 1 M {{out_1}}", "invalid_option", "write `-b:v 1M`"],
  ["-i {{in_1}} -b:v 1500 kb/s {{out_1}}", "invalid_option", "write `-b:v 1500k`"],
  ['-i {{in_1}} -metadata title = "A B" {{out_1}}', "invalid_option", '`-metadata title="A B"`'],
  ["-i {{in_1}} -metadata title=A artist=B {{out_1}}", "invalid_option", "-metadata artist=B"],
  [
    String.raw`-i {{in_1}} -vf select=eq(pict_type\,I) {{out_1}}`,
    "filter_error",
    String.raw`"select=eq(pict_type\,I)"`,
  ],
  ["-i {{in_1}} -t 10 sec {{out_1}}", "invalid_option", "write `-t 10`"],
  ["-i {{in_1}} -af volume=3 dB {{out_1}}", "invalid_option", "volume=3dB"],
  ["-i {{in_1}} -shortest 1 {{out_1}}", "invalid_option", "`-shortest` stands alone"],
  ["-y yes -i {{in_1}} {{out_1}}", "invalid_option", "`-y` stands alone"],
]
