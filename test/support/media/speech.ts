import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { hasSpeechModel } from "../../../container/models/fetch-model.ts"
import { fliteStep } from "../../../scripts/setup/test-tools.ts"
import { SPEECH_MODELS_PATH, SPEECH_PYTHON_PATH } from "../../../scripts/setup/speech.ts"

const run = promisify(execFile)

/** Voices of flite that sound most natural. */
export const FLITE_VOICES = ["slt", "rms"] as const

export type Voice = (typeof FLITE_VOICES)[number]

/** Sentence that takes about five seconds to speak. */
export const SHORT_SPEECH_TEXT =
  "The weather was cold this morning, so we stayed at home and made a large pot of tea."

/** Text of more than 200 words, which takes a little more than a minute to speak. */
export const LONG_SPEECH_TEXT = `
The harbor was quiet when the first boats came home. A cold wind moved over the water, and the
old lamps along the pier began to shine. Maria stood by the window of the small office and
counted the sails. Her father had taught her to read the weather from the color of the sky,
and this evening the sky was the color of copper. She wrote a short note in the book on her
desk, closed the door behind her, and walked down to the river. The men were tired but they
laughed, because the nets were full. They carried heavy baskets of fish up the stone steps,
and the children ran beside them with open hands. Somebody started to sing a slow song about
the summer, and soon the whole street was singing. When the moon rose above the church, the
market was ready for the morning. Maria looked at the bright line of light on the sea and
thought that there was no better place in the world. She went home, made a pot of tea, and
listened to the rain on the roof. In the kitchen her brother was mending a broken chair. He
asked her about the day, and she told him every small detail, from the first sail to the last
song.`

/** Text of the same length as `LONG_SPEECH_TEXT`, about another subject. */
export const OTHER_LONG_SPEECH_TEXT = `
A good recording begins long before anybody presses a button. Choose a quiet room with soft
furniture, because hard walls send every sound back to the microphone. Close the windows, and
turn off the fan and the refrigerator if you can. Sit close to the microphone, but speak
across it and not straight into it, so that your breath makes no noise. Read a few lines as a
test and look at the level on the screen. It should move near the middle and never touch the
top. If the voice is too loud in one part and too quiet in another, do not worry about it now,
since a computer can bring both to the same loudness later. What no computer can repair is an
echo, or a door that closes in the middle of a sentence. Drink some water before you start.
Speak slowly, leave a short pause after every sentence, and if you make a mistake, wait a
moment and say the whole sentence again. When you are finished, listen to the beginning, the
middle and the end with good headphones. Save a copy of the file in another place before you
change anything. Then send it to a friend, and ask what they understood and where they stopped
listening.`

/** Returns the reason why this machine cannot generate speech, or null if it can. */
export async function explainMissingFlite(): Promise<string | null> {
  return (await fliteStep.isDone())
    ? null
    : "flite, which says what is to be heard, is not installed"
}

/** Returns the reason why this machine cannot generate and transcribe speech, or null if it can. */
export async function explainMissingSpeechTools(): Promise<string | null> {
  return (await explainMissingFlite()) ?? (await explainMissingSpeechModel())
}

/** Returns the reason why this machine cannot transcribe speech, or null if it can. */
export async function explainMissingSpeechModel(): Promise<string | null> {
  const isThere =
    existsSync(SPEECH_PYTHON_PATH) && (await hasSpeechModel(SPEECH_MODELS_PATH, "base"))
  return isThere ? null : "faster-whisper or its model base is not installed"
}

/**
 * Returns a suffix for the title of a skipped test with the reason. Returns an empty text without a
 * reason.
 */
export function makeSkipSuffix(reason: string | null): string {
  return reason === null ? "" : ` (skipped: ${reason})`
}

/**
 * Generates speech of a text with flite. Returns the path of the WAV file, which is mono with 16
 * kHz.
 */
export async function generateSpeech(
  folder: string,
  { name = "speech.wav", voice = "slt", text }: { name?: string; voice?: Voice; text: string },
): Promise<string> {
  const path = join(folder, name)
  const line = text.replaceAll("\n", " ").trim()
  await run("flite", ["-voice", voice, "-o", path, "-t", line])
  return path
}
