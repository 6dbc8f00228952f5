import { isEnglishOnly } from "../../contract/speech-models.ts"
import type { Fault } from "../../faults.ts"
import type { DeploymentFacts, FoundInput } from "../kind.ts"
import { hearsCantonese, isAuto, readLanguage } from "./languages.ts"
import { judgeWebhooks } from "../webhook-fields.ts"
import type { UsableTranscribe } from "./request.ts"

const EXPECTED_ONE = "expected exactly one of file_url, source, and file in a multipart body"

/** Everything wrong with a request that its schema cannot say. */
export function judgeTranscribe(
  request: UsableTranscribe,
  _inputs: FoundInput[],
  malformed: ReadonlySet<string>,
  { speechModels }: DeploymentFacts,
): Fault[] {
  const { model = speechModels.default } = request
  const isKnown = speechModels.names.includes(model)
  return [
    ...judgeSources(request, malformed),
    ...judgeWebhookForm(request),
    ...(isKnown ? judgeSpeech(request, model) : [unknownModel(speechModels.names)]),
  ]
}

function judgeSources(
  { file_url, source }: UsableTranscribe,
  malformed: ReadonlySet<string>,
): Fault[] {
  const isNamed = file_url !== undefined || malformed.has("file_url")
  if (source === undefined && !malformed.has("source")) {
    return isNamed ? [] : [{ field: "file_url", message: `${EXPECTED_ONE}, and there is none` }]
  }
  return isNamed ? [{ field: "source", message: `${EXPECTED_ONE}, and there are several` }] : []
}

function judgeWebhookForm({ source, webhook, webhook_url }: UsableTranscribe): Fault[] {
  if (webhook_url === undefined) return []
  const both = judgeWebhooks({ webhook, webhook_url })
  if (both.length > 0 || source !== undefined) return both
  const message = "expected it beside source alone; otherwise it is named webhook"
  return [{ field: "webhook_url", message }]
}

function unknownModel(names: readonly string[]): Fault {
  return { field: "model", message: `expected one of ${names.join(", ")}` }
}

/** What is asked of a model that it cannot do. */
function judgeSpeech({ language = "auto", task }: UsableTranscribe, model: string): Fault[] {
  const read = isAuto(language) ? null : readLanguage(language)
  const code = read && "code" in read ? read.code : null
  if (!isEnglishOnly(model)) {
    if (code !== "yue" || hearsCantonese(model)) return []
    const message = `expected zh, since the model ${model} does not tell Cantonese from it`
    return [{ field: "language", message }]
  }
  const why = `since the model ${model} knows English alone`
  return [
    ...(code === null || code === "en"
      ? []
      : [{ field: "language", message: `expected en or auto, ${why}` }]),
    ...(task === "translate" ? [{ field: "task", message: `expected transcribe, ${why}` }] : []),
  ]
}
