import type { ValidCommandFields } from "../../../kinds/command/request.ts"

/**
 * Example command, as fields of the body of POST /v1/commands. `input_files` has an empty value for
 * each file that the user has to choose.
 */
export type CommandRecipe = { id: string; title: string } & Pick<
  ValidCommandFields,
  "input_files" | "output_files" | "ffmpeg_command"
>

const ONE = { in_1: "" }
const TWO = { in_1: "", in_2: "" }

/** FFmpeg filter that fits any picture into 1280 by 720. */
const FRAME =
  "scale=1280:720:force_original_aspect_ratio=decrease,pad=1280:720:-1:-1,setsar=1,fps=30"

/** Example commands for common tasks. The first example needs no input file. */
export const COMMAND_RECIPES: readonly CommandRecipe[] = [
  {
    id: "test-film",
    title: "Make a test film (needs no file)",
    input_files: {},
    output_files: { out_1: "test-film.mp4" },
    ffmpeg_command:
      "ffmpeg -f lavfi -i testsrc2=size=1280x720:rate=30:duration=10 -f lavfi -i sine=frequency=440:duration=10 -c:v libx264 -pix_fmt yuv420p -c:a aac {{out_1}}",
  },
  {
    id: "remux",
    title: "Remux to MP4 without loss",
    input_files: ONE,
    output_files: { out_1: "remuxed.mp4" },
    ffmpeg_command: "ffmpeg -i {{in_1}} -c copy -movflags +faststart {{out_1}}",
  },
  {
    id: "720p",
    title: "Scale to 720p for the web",
    input_files: ONE,
    output_files: { out_1: "720p.mp4" },
    ffmpeg_command:
      "ffmpeg -i {{in_1}} -vf scale=-2:720 -c:v libx264 -crf 23 -preset fast -c:a aac -b:a 128k -movflags +faststart {{out_1}}",
  },
  {
    id: "trim",
    title: "Cut five seconds",
    input_files: ONE,
    output_files: { out_1: "cut.mp4" },
    ffmpeg_command:
      "ffmpeg -ss 00:00:01 -t 00:00:05 -i {{in_1}} -c:v libx264 -crf 20 -c:a aac {{out_1}}",
  },
  {
    id: "thumbnail",
    title: "Take a thumbnail",
    input_files: ONE,
    output_files: { out_1: "thumbnail.jpg" },
    ffmpeg_command:
      "ffmpeg -i {{in_1}} -vf thumbnail=100,scale=640:-2 -frames:v 1 -q:v 3 {{out_1}}",
  },
  {
    id: "gif",
    title: "Turn the beginning into a GIF",
    input_files: ONE,
    output_files: { out_1: "clip.gif" },
    ffmpeg_command:
      'ffmpeg -t 5 -i {{in_1}} -filter_complex "fps=12,scale=480:-2:flags=lanczos,split[a][b];[a]palettegen[p];[b][p]paletteuse" {{out_1}}',
  },
  {
    id: "contact-sheet",
    title: "Make a contact sheet",
    input_files: ONE,
    output_files: { out_1: "sheet.jpg" },
    ffmpeg_command: 'ffmpeg -i {{in_1}} -vf "fps=1/2,scale=320:-2,tile=4x3" -frames:v 1 {{out_1}}',
  },
  {
    id: "audio",
    title: "Extract the audio as MP3",
    input_files: ONE,
    output_files: { out_1: "sound.mp3" },
    ffmpeg_command: "ffmpeg -i {{in_1}} -vn -c:a libmp3lame -q:a 2 {{out_1}}",
  },
  {
    id: "loudness",
    title: "Normalize the audio to −16 LUFS",
    input_files: ONE,
    output_files: { out_1: "level.mp4" },
    ffmpeg_command:
      "ffmpeg -i {{in_1}} -af loudnorm=I=-16:TP=-1.5:LRA=11 -c:v copy -c:a aac -b:a 192k {{out_1}}",
  },
  {
    id: "waveform",
    title: "Draw the waveform",
    input_files: ONE,
    output_files: { out_1: "waveform.png" },
    ffmpeg_command:
      'ffmpeg -i {{in_1}} -filter_complex "aformat=channel_layouts=mono,showwavespic=s=1200x240:colors=0x2a52be" -frames:v 1 {{out_1}}',
  },
  {
    id: "hls",
    title: "Package as HLS",
    input_files: ONE,
    output_files: { out_1: "film.m3u8" },
    ffmpeg_command:
      "ffmpeg -i {{in_1}} -c:v libx264 -pix_fmt yuv420p -g 48 -sc_threshold 0 -c:a aac -f hls -hls_time 4 -hls_playlist_type vod {{out_1}}",
  },
  {
    id: "concat",
    title: "Join two videos",
    input_files: TWO,
    output_files: { out_1: "joined.mp4" },
    ffmpeg_command: `ffmpeg -i {{in_1}} -i {{in_2}} -filter_complex "[0:v]${FRAME}[v0];[1:v]${FRAME}[v1];[v0][0:a][v1][1:a]concat=n=2:v=1:a=1[v][a]" -map "[v]" -map "[a]" -c:v libx264 -c:a aac {{out_1}}`,
  },
  {
    id: "watermark",
    title: "Overlay a watermark",
    input_files: TWO,
    output_files: { out_1: "marked.mp4" },
    ffmpeg_command:
      'ffmpeg -i {{in_1}} -i {{in_2}} -filter_complex "[1:v]scale=160:-1[mark];[0:v][mark]overlay=W-w-20:H-h-20[v]" -map "[v]" -map 0:a? -c:v libx264 -c:a copy {{out_1}}',
  },
]
