import { buildAliasMap } from "./hint-table.ts"
import { findNearestName } from "./nearest-name.ts"

/** Fields of requests that name input media; fields for a single input come first. */
const SOURCES = ["file_url", "url", "source", "input_files", "inputs"]
const OUTPUTS = ["output_files", "output_filename", "outputs"]

/** Field names of other APIs (lowercase letters only), with the likely fields of this API. */
const OTHER_NAMES = buildAliasMap<readonly string[]>([
  [
    "url src source sourceurl urls uri link href address page pageurl path filepath fileid fileurl inputurl inputfile media mediaurl mediauri video audiourl downloadurl",
    SOURCES,
  ],
  ["input inputs", ["input_files", "inputs", "source", "file_url", "url"]],
  ["inputfiles", ["inputs", "source", "file_url", "url"]],
  ["infile infiles", ["input_files", "inputs"]],
  ["files", ["input_files", "inputs", "file_url"]],
  ["file", ["file_url", "source", "input_files", "inputs"]],
  ["videourl", ["source", "url", "file_url", "input_files"]],
  ["audio", ["file_url", "source", "audio_format", "input_files"]],
  ["output outputs outfile outfiles outputname outputfile", OUTPUTS],
  ["outputfiles", ["output_filename", "outputs"]],
  ["filename", ["output_filename"]],
  ["renditions formats presets", ["outputs"]],
  ["cmd args arguments ffmpeg ffmpegargs script command", ["ffmpeg_command", "command"]],
  ["commands", ["ffmpeg_commands", "command"]],
  ["ffmpegcommand", ["command"]],
  [
    "callback callbackurl callbackuri notification notificationurl notify notifyurl hook hookurl webhookurl webhookuri webhooks",
    ["webhook"],
  ],
  ["tags meta custom context passthrough userdata", ["metadata"]],
  [
    "ttl expires expiry expiresin expiresat expiration retention keepfor",
    ["expires_in", "expires_at"],
  ],
  ["lang locale", ["language"]],
  ["modelsize modelid modelname", ["model"]],
  ["outputformat", ["format", "audio_format", "outputs"]],
  ["responseformat", ["format"]],
  ["type", ["format", "audio_format"]],
  ["initialprompt hints vocabulary", ["prompt"]],
  ["translate", ["task"]],
  ["format ext extension", ["container", "audio_format", "outputs"]],
  ["extractaudio audioonly", ["audio_format"]],
  ["maxheight height width size scale dimensions resolution", ["resolution", "quality"]],
  ["videocodec vcodec codec encoder", ["codec", "outputs"]],
  ["bitrate videobitrate", ["bitrate_kbps"]],
  ["subs captions", ["subtitles"]],
  ["starttime from", ["start"]],
  ["endtime to", ["end"]],
  ["cookie", ["cookies"]],
  ["i lufs target targetlufs targetloudness loudness loudnorm integrated", ["loudnorm_i"]],
  ["lra range", ["loudnorm_lra"]],
  ["tp peak truepeak", ["loudnorm_tp"]],
  ["label title description", ["name"]],
  ["permissions roles access", ["scopes"]],
])

/** Query parameters of lists in other APIs, with the likely parameters of this API. */
const OTHER_PARAMETERS = buildAliasMap<readonly string[]>([
  ["per_page page_size pagesize count max size", ["limit"]],
  ["page skip start", ["offset"]],
  ["after next", ["cursor"]],
  ["since from", ["created_after"]],
  ["until to before", ["created_before"]],
  ["state", ["status"]],
  ["type", ["kind", "source"]],
  ["job", ["job_id"]],
])

/** Returns the query parameter that a name most likely means; null if no parameter is similar. */
export function findNearestParameter(name: string, parameters: readonly string[]): string | null {
  const others = OTHER_PARAMETERS.get(name.toLowerCase())
  return others?.find((each) => parameters.includes(each)) ?? findNearestName(name, parameters)
}

/** Minimum length of a word to be matched as the prefix of a field name. */
const PREFIX_LENGTH_MIN = 4

/** Returns the field that a name most likely means; null if no field is similar. */
export function findNearestField(key: string, fields: readonly string[]): string | null {
  const plain = key.toLowerCase().replace(/[^a-z]/g, "")
  const plainFields = fields.map((field) => field.replaceAll("_", ""))
  const other = plainFields.includes(plain)
    ? undefined
    : OTHER_NAMES.get(plain)?.find((name) => fields.includes(name))
  if (other !== undefined) return other
  const longer = fields.filter((_, place) => plainFields[place]?.startsWith(plain))
  const isPrefix = longer.length === 1 && plain.length >= PREFIX_LENGTH_MIN
  return (isPrefix ? longer[0] : null) ?? findNearestName(key, fields)
}
