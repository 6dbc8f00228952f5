import { SOURCE_KEY_HEADER } from "../../../src/contract/source-answer.ts"
import type { IoClient } from "../io-client.ts"
import { judgeStoreAnswer } from "./judge-store-answer.ts"
import type { Ask } from "./open-source.ts"

/**
 * Asks for the object of the task's own work through the Worker, which alone has credentials. The
 * URL of an answer is the one of the object by the key that it was found by, percent-encoded.
 */
export function askStore(io: IoClient): Ask {
  return async ({ url, headers, signal, headMsMax }) => {
    const response = await io.open("/source", { headers, signal, headMsMax })
    const refused = judgeStoreAnswer(response, url.host)
    if (refused) {
      response.destroy()
      throw refused
    }
    const key = String(response.headers[SOURCE_KEY_HEADER] ?? "")
    return { url: new URL(`s3://${url.host}/${key}`), response }
  }
}
