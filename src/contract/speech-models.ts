/** The speech models of a deployment, by name. */
export type SpeechModels = { default: string; names: readonly string[] }

/**
 * The models that settings name: `WHISPER_MODEL` is used where a request names none, and is the name
 * of a model or the path of a folder with one, whose own name it then has; `WHISPER_MODELS` are
 * further names, by commas.
 */
export function readSpeechModels(settings: {
  WHISPER_MODEL: string
  WHISPER_MODELS: string
}): SpeechModels {
  const first = speechModelName(settings.WHISPER_MODEL)
  const further = settings.WHISPER_MODELS.split(",").flatMap((text) => text.trim() || [])
  return { default: first, names: [...new Set([first, ...further.map(speechModelName)])] }
}

/** The name of a model that is named, or whose folder is. */
export function speechModelName(model: string): string {
  return model.replace(/\/+$/, "").replace(/^.*\//, "")
}

/** Whether a model hears English alone, which its name says. */
export function isEnglishOnly(model: string): boolean {
  return model.endsWith(".en")
}
