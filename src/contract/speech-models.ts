/** Names of the speech models of a deployment. */
export type SpeechModels = { default: string; names: readonly string[] }

/**
 * Reads the speech models from the settings. `WHISPER_MODEL` is the default: a name, or the path of
 * a folder whose last segment is the name. `WHISPER_MODELS` lists further names, separated by
 * commas.
 */
export function readSpeechModels(settings: {
  WHISPER_MODEL: string
  WHISPER_MODELS: string
}): SpeechModels {
  const first = speechModelName(settings.WHISPER_MODEL)
  const further = settings.WHISPER_MODELS.split(",").flatMap((text) => text.trim() || [])
  return { default: first, names: [...new Set([first, ...further.map(speechModelName)])] }
}

/** Returns the name of a speech model from its name or the path of its folder. */
export function speechModelName(model: string): string {
  return model.replace(/\/+$/, "").replace(/^.*\//, "")
}

/** Reports whether a speech model knows only English; the name of such a model ends with `.en`. */
export function isEnglishOnly(model: string): boolean {
  return model.endsWith(".en")
}
