const LINES_MAX = 20
const LINE_LENGTH_MAX = 500

/** Lines in which ffmpeg describes itself, its inputs and outputs, or how far it is. */
export const NOISE = [
  /^\s/,
  /^(?:ffmpeg|ffprobe) (?:version|stats) /,
  /^(?:Input|Output) #\d+, /,
  /^Stream mapping:/,
  /^Press \[q\]/,
  /^(?:frame|size)=/,
  /^(?:\[out#\S+\] )?video:\s*\S+\s+audio:/,
  /^\[\S+\] (?:Qavg: |\d+ frames left in the queue)/,
  /^\[libx26[45]\] (?:using |profile |264 - |frame |mb |8x8 |coded |i\d+ |ref |kb\/s|Weighted|consecutive)/,
  /^x265 \[info\]/,
  /Application has requested \d+ threads/,
]

export const TELLING =
  /error|fail|invalid|unable|unknown|unrecognized|undefined|unsupported|no such|not |cannot|could|can't|must|missing|denied|match|too |only |exceed|without|expected|impossible|unsafe|possible|does |memory|terminated|incomplete|corrupt|broken|nothing |bad /i

/** What a tool could not open, in one line, or why. */
const OPENING = /(?:open|opening|opened) |open$/i
const OPENING_REASON =
  /(?:^|: )(?:Permission denied|Operation not permitted|No such (?:file or directory|device or address)|Not a directory|Is a directory|Too many levels of symbolic links|File name too long)\.?$/
/** A slash, or the name of a protocol, is in no plain name of a workspace. */
const ELSEWHERE = /\/|\b[a-z][a-z0-9+.-]{0,20}:\S/i
const NAMED_OPENING = /^Error opening (?:input|output) file /
const NAMELESS_OPENING = /^Error opening (?:input|output) files: /

/**
 * What a tool said, line by line, without noise, control characters, pointers and paths of the
 * workspace; the form that explanations are found in.
 */
export function cleanLines(stderr: string, workspace: string): string[] {
  const lines = stderr
    .replaceAll(`${workspace}/`, "")
    .replaceAll(workspace, ".")
    .split(/[\r\n]+/)
    // eslint-disable-next-line no-control-regex -- control characters are what is taken out
    .map((line) => line.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g, ""))
    .map((line) => line.replace(/ @ 0x[0-9a-f]+/g, ""))
    // The list is ours, and longer than everything else that is said.
    .map((line) => line.replace(/ not on whitelist '[^']*'!?/, " is not read here"))
    .map((line) => line.slice(0, LINE_LENGTH_MAX))
    .filter((line) => line.trim() !== "" && !NOISE.some((noise) => noise.test(line)))
  return [...new Set(hideReasons(lines))]
}

/**
 * Whether a path beside the workspace is there is nobody's business, so that nothing says why it
 * cannot be opened: neither its own line nor that of the plain file which names it.
 */
function hideReasons(lines: readonly string[]): string[] {
  const isElsewhere = lines.some(isAboutElsewhere)
  return lines.map((line, index) => {
    const isNameless = NAMELESS_OPENING.test(line) && !NAMED_OPENING.test(lines[index - 1] ?? "")
    if (!isElsewhere && !isNameless) return line
    return line.replace(OPENING_REASON, (reason) =>
      reason.startsWith(": ") ? ": cannot be opened" : "cannot be opened",
    )
  })
}

function isAboutElsewhere(line: string): boolean {
  const words = line.replace(/^(?:\[[^\]]*\] )+/, "")
  return (OPENING.test(words) || OPENING_REASON.test(words)) && ELSEWHERE.test(words)
}

/** The lines worth showing of those: what sounds like trouble, else the last ones. */
export function tellingLines(lines: readonly string[]): string[] {
  const telling = lines.filter((line) => TELLING.test(line))
  return (telling.length > 0 ? telling : lines).slice(-LINES_MAX)
}
