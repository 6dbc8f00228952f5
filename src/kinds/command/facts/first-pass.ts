import type { ReadCommand } from "../../../contract/command-line.ts"
import { quote } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import { choosesCodec } from "./codecs.ts"
import { SOUND_NAME } from "./endless/input-streams.ts"

/** Second passes of a command that is the first of its job, so that nothing wrote what they read. */
export function checkFirstPass({ files }: ReadCommand): Refusal[] {
  const outputs = files.filter(({ kind }) => kind === "output")
  return outputs.flatMap(({ options, word: name }) => {
    const pass = options.findLast((option) => option.name === "pass")
    const isCopied = options.some((each) => choosesCodec(each.name) && each.value === "copy")
    if (!pass || !/^[23]$/.test(pass.value ?? "") || isCopied) return []
    // Passes are of pictures.
    if (SOUND_NAME.test(name) || options.some((each) => each.name === "vn")) return []
    const message = `${pass.word} ${pass.value ?? ""}: it reads what a first pass wrote, and no command of this job comes before it; give \`ffmpeg_commands\` with the same as -pass 1 -f null - first, or leave it out of ${quote(name)}`
    return [{ code: "invalid_option", option: pass.word, message }]
  })
}
