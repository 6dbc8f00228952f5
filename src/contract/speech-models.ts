/** Names of the default speech model and of all speech models of a deployment. */
export type SpeechModels = { default: string; names: readonly string[] }

/**
 * Parses the names of the speech models from the settings. `WHISPER_MODEL` is the default model: a
 * name, or the path of a folder whose last segment is the name. `WHISPER_MODELS` lists the names of
 * more models, separated by commas.
 */
export function parseSpeechModels(settings: {
  WHISPER_MODEL: string
  WHISPER_MODELS: string
}): SpeechModels {
  const first = speechModelName(settings.WHISPER_MODEL)
  const further = settings.WHISPER_MODELS.split(",").flatMap((text) => text.trim() || [])
  return { default: first, names: [...new Set([first, ...further.map(speechModelName)])] }
}

/**
 * Returns the name of a speech model. `model` is either the name or the path of the model's folder.
 */
export function speechModelName(model: string): string {
  return model.replace(/\/+$/, "").replace(/^.*\//, "")
}

/**
 * Reports whether a speech model recognizes only English. The name of an English-only model ends
 * with `.en`.
 */
export function isEnglishOnlyModel(model: string): boolean {
  return model.endsWith(".en")
}
