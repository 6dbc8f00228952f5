import { parseSpeechModels } from "../contract/speech-models.ts"
import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { loadCapabilitiesFromSetting } from "../kinds/command/facts/capabilities.ts"
import type { DeploymentProperties, ValidationContext } from "../kinds/kind.ts"

/** Returns the speech models and FFmpeg capabilities of this deployment, to validate requests. */
export async function readValidationContext(env: Env): Promise<ValidationContext> {
  return {
    ...readDeploymentProperties(env),
    ffmpeg: await loadCapabilitiesFromSetting(getSettings(env).FFMPEG_FACTS),
  }
}

/** Returns the speech models of this deployment, with which requests are validated. */
export function readDeploymentProperties(env: Env): DeploymentProperties {
  return { speechModels: parseSpeechModels(getSettings(env)) }
}
