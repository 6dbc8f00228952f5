import type { CommandOption } from "../../../ffmpeg/command-line.ts"
import { buildAliasMap } from "../../../hints/hint-table.ts"
import type { FfmpegCapabilities } from "./capabilities.ts"

/** Corrections of common wrong options of ffmpeg. `*` stands for the option's value. */
const TEMPLATES = buildAliasMap([
  ["bitrate video_bitrate bitrate_video vbitrate bv videobitrate", "-b:v *"],
  ["audio_bitrate bitrate_audio abitrate ba audiobitrate", "-b:a *"],
  ["fps frame_rate rate", "-r *"],
  ["size resolution dimensions dimension scale resize", "-vf scale=*"],
  ["width", "-vf scale=*:-2"],
  ["height", "-vf scale=-2:*"],
  ["duration length dur time seconds", "-t *"],
  ["start begin from seek start_time starttime offset", "-ss *"],
  ["end until stop end_time endtime", "-to *"],
  ["volume gain", "-af volume=*"],
  // ffmpeg removed the option -vol, whose unit of volume was 1/256.
  ["vol", "-af volume=*/256"],
  ["tempo", "-af atempo=*"],
  ["input in file infile", "-i *"],
  ["format container fmt type", "-f *"],
  ["overwrite force yes", "-y"],
  ["mute noaudio no-audio no_audio nosound silent disable_audio", "-an"],
  ["novideo no-video no_video audio_only audio-only disable_video", "-vn"],
  ["video_codec videocodec codec_video vc cv encoder", "-c:v *"],
  ["audio_codec audiocodec codec_audio acod ca", "-c:a *"],
  ["channels audio_channels", "-ac *"],
  ["sample_rate samplerate audio_rate samples", "-ar *"],
  ["keyint gop gop_size keyframe_interval", "-g *"],
  ["pixel_format pixelformat", "-pix_fmt *"],
  ["title artist album author copyright genre year description", "-metadata %=*"],
  ["subtitle subtitles subs srt burn", "-vf subtitles={{in_2}}"],
  ["target_size max_size maxsize filesize file_size", "-fs *"],
  ["trim cut clip", "-ss 5 -to 10"],
  ["compress", "-crf 28"],
  ["watermark logo", "-i {{in_2}} -filter_complex overlay=10:10"],
  ["qv", "-q:v *"],
  ["qa", "-q:a *"],
  ["thumbnail screenshot snapshot", "-frames:v 1"],
  ["sameq same_quant", "-q:v 2"],
  // ffmpeg 7 removed the option -map_channel.
  ["map_channel", '-af "pan=mono|c0=c0"'],
  ["intra", "-g 1"],
  ["loop_output", "-loop *"],
  ["async", "-af aresample=async=*"],
  ["deinterlace", "-vf yadif"],
  ["grayscale greyscale gray bw", "-vf hue=s=0"],
  ["mirror flip", "-vf hflip"],
  ["quiet", "-loglevel quiet"],
  ["verbose", "-loglevel verbose"],
  ["two_pass twopass two-pass 2pass passes", "-pass 1"],
  ["faststart", "-movflags +faststart"],
  ["stream_copy copy", "-c copy"],
])

const TURNS: Record<string, string> = {
  "90": "transpose=1",
  "180": "hflip,vflip",
  "270": "transpose=2",
  "-90": "transpose=2",
}

/** Returns the remedy for a common wrong option; null if the option is not a common mistake. */
export function suggestOption(
  { name, value }: CommandOption,
  capabilities: FfmpegCapabilities,
): string | null {
  const plain = name.replace(/^-/, "").toLowerCase()
  if (/^(?:o|out|output|outfile|output_file|dest)$/.test(plain)) {
    return "leave it out: the output comes last, without an option"
  }
  const argument = usableValue(value)
  if (/^rotat(?:e|ion)$/.test(plain)) {
    const turn = TURNS[argument ?? "90"] ?? `rotate=${argument ?? "45"}*PI/180`
    return `write \`-vf ${turn}\``
  }
  const isBytes = plain === "size" && /^\d+[kMG]?B?$/i.test(argument ?? "")
  const template = isBytes ? "-fs *" : TEMPLATES.get(plain)
  if (template === undefined) return suggestFilter(plain, argument, capabilities)
  const templateValue = template.includes("scale=*") ? argument?.replace(/[x*,]/i, ":") : argument
  const command = template.replace("%", plain).replace("*", templateValue ?? "…")
  return `write \`${command.replace("…", exampleOf(template))}\``
}

/**
 * Returns the value of an unknown option, for use in a suggestion. Returns null if the value is
 * probably a file or another option.
 */
function usableValue(value: string | null): string | null {
  if (value === null || /^-[a-z]|[{}\s]|\.[a-z]\w{1,4}$/i.test(value)) return null
  return value
}

const EXAMPLES: readonly (readonly [RegExp, string])[] = [
  [/^-b:v/, "2M"],
  [/^-b:a/, "128k"],
  [/scale=\*$/, "1280:720"],
  [/scale/, "720"],
  [/^-i/, "{{in_1}}"],
  [/^-f /, "mp4"],
  [/^-c:v/, "libx264"],
  [/^-c:a/, "aac"],
  [/^-r/, "30"],
  [/^-ar/, "48000"],
  [/^-pix_fmt/, "yuv420p"],
  [/^-metadata/, '"…"'],
]

function exampleOf(template: string): string {
  return EXAMPLES.find(([pattern]) => pattern.test(template))?.[1] ?? "2"
}

/** Returns the remedy for an option that has the name of a filter or of a format. */
function suggestFilter(
  name: string,
  value: string | null,
  capabilities: FfmpegCapabilities,
): string | null {
  const entry = capabilities.find("filters", name)
  if (!entry) return capabilities.names("muxers").has(name) ? `write \`-f ${name}\`` : null
  const text = value === null ? name : `${name}=${value}`
  const pads = entry.meta.split(" ").at(-1)
  if (pads === "V>V") return `it is a filter; write \`-vf ${text}\``
  if (pads === "A>A") return `it is a filter; write \`-af ${text}\``
  return `it is a filter; write it in \`-filter_complex\``
}
