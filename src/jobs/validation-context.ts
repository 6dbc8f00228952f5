import { parseSpeechModels } from "../contract/speech-models.ts"
import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { loadCapabilitiesFromSetting } from "../kinds/command/facts/capabilities.ts"
import type { DeploymentProperties, ValidationContext } from "../kinds/kind.ts"

/** Returns the capabilities of this deployment that the validation of requests needs. */
export async function readValidationContext(env: Env): Promise<ValidationContext> {
  return {
    ...readDeploymentProperties(env),
    ffmpeg: await loadCapabilitiesFromSetting(getSettings(env).FFMPEG_FACTS),
  }
}

/** Returns what the validation of a request needs to know of this deployment: its speech models. */
export function readDeploymentProperties(env: Env): DeploymentProperties {
  return { speechModels: parseSpeechModels(getSettings(env)) }
}
