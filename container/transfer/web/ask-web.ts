import { isSiteAllowed } from "../../../src/contract/allowed-site.ts"
import { openUrl } from "../../egress/client.ts"
import type { Dial } from "../../egress/dial.ts"
import { judgeStatus } from "./judge-status.ts"
import type { Ask } from "./open-source.ts"
import { SourceError } from "./source-error.ts"

/** Asks servers of the web, by `dial`; `sites` are those that may be asked, none: all. */
export function askWeb(dial: Dial, sites: readonly string[]): Ask {
  function checkSite(hop: URL): void {
    if (isSiteAllowed(hop, sites)) return
    const message = `The site "${hop.hostname}" is not one of those that media may come from.`
    throw new SourceError("url_not_allowed", message)
  }
  return async ({ url, headers, signal, headMsMax }) => {
    checkSite(url)
    const answer = await openUrl(url, { dial, headers, signal, headMsMax, onHop: checkSite })
    const isOfRange = answer.response.statusCode === 416 && headers["range"] !== undefined
    const refused = isOfRange ? null : judgeStatus(answer.response)
    if (!refused) return answer
    answer.response.destroy()
    throw refused
  }
}
