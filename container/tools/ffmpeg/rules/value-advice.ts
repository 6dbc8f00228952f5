/**
 * Advice about valid values of options. The names of the options have no stream specifiers: `b`
 * stands for `b:v` too.
 */
const EXPECTED: readonly (readonly [names: string, expected: string])[] = [
  [
    "t to ss sseof itsoffset hls_time segment_time duration d start_time st offset durationi",
    "write a time, as 90, 1.5, 500ms or 00:01:30",
  ],
  ["r framerate rate fpsmax fps", "write frames a second, as 25 or 30000/1001"],
  ["s size video_size", "write a size, as 1280x720"],
  ["layout", "write columns and rows, as 3x2"],
  ["ac", "write a whole number, as 2"],
  ["ar sample_rate", "write a whole number, as 44100"],
  ["frames vframes aframes dframes", "write a whole number, as 1"],
  ["fs q qscale aq g bf crf qmin qmax", "write a number, as 20"],
  ["aspect", "write a ratio, as 16:9 or 1.7777"],
  ["b ab maxrate minrate bufsize", "write a number without a unit, or with k, M or G, as 1.5M"],
  ["force_key_frames", "write times with commas between, as 0,2,4, or expr:gte(t,n_forced*2)"],
  ["x264-params x265-params", "write pairs with colons between, as crf=20:bframes=2"],
  ["vsync fps_mode", "write passthrough, cfr, vfr, drop or auto"],
  ["target", "write vcd, svcd, dvd, dv or dv50, as pal-dvd"],
  ["streamid", "write a stream and an id, as 0:256"],
  ["loglevel v", "write quiet, panic, fatal, error, warning, info, verbose, debug or trace"],
  ["level", "write a level of H.264, as 3.1, 4.0 or 4.2"],
  ["loop", "write -loop 1 for a picture, and -t before the output for its seconds"],
  ["profile", "write one that the encoder has, as high for libx264 or aac_low for aac"],
  ["map", "write the number of the input, and v, a or s with a number if need be, as 0:v or 0:a:1"],
]
const BY_NAME = new Map(
  EXPECTED.flatMap(([names, expected]) =>
    names.split(" ").map((name) => [name, expected] as const),
  ),
)

/** Returns advice for a value that the option with this name rejects. */
export function adviseOptionValue(option: string, value = ""): string {
  const [name = ""] = option.split(":", 1)
  if (/^\d/.test(value) && /^(?:crf|g|bf|q)$/.test(name)) {
    return "write a number with a point and without a unit, as 23.5"
  }
  return (
    BY_NAME.get(name) ??
    (/^[+-]?\d/.test(value)
      ? "write a number without a unit, or with k, M or G, as 1.5M"
      : "write a number, or a name that it has")
  )
}

/** Advice about valid values, by the type that ffmpeg names in its message, such as `duration`. */
const TYPES: Record<string, string> = {
  duration: "write a time, as 90, 1.5, 500ms or 00:01:30",
  "image size": "write a size, as 1280x720",
  "video rate": "write frames a second, as 25 or 30000/1001",
  boolean: "write 1 or 0",
  color: "write a color, as red or 0xFF8800",
  "pixel format": "write a pixel format, as yuv420p",
  "sample format": "write a sample format, as fltp or s16",
  "channel layout": "write a layout of channels, as stereo or 5.1",
}

/**
 * Returns advice for an invalid value. `type` is the expected type as ffmpeg names it in its
 * message, such as `image size`.
 */
export function adviseValueOfType(type: string): string {
  return TYPES[type] ?? `write ${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`
}

/**
 * Matches the smallest and the largest number of a type, such as INT_MAX. ffmpeg prints these as
 * limits of an option whose range is not restricted.
 */
const OPEN_BOUND = /e\+\d\d|^-?(?:INT|DBL|FLT|I64|UINT)|^-?inf/i

/**
 * Describes the range of an option's value from the limits that ffmpeg prints, such as "0 to 51".
 * Omits limits that are only those of the number type, as in "0 or more".
 */
export function describeValueRange(least: string, most: string): string {
  const [from, to] = [least, most].map((bound) => bound.replace(/(\.\d*?)0+$/, "$1"))
  if (OPEN_BOUND.test(most)) return OPEN_BOUND.test(least) ? "another number" : `${from} or more`
  return OPEN_BOUND.test(least) ? `${to} or less` : `${from} to ${to}`
}
