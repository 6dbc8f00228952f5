/**
 * Why a body that has a field of the Job form cannot be used, which this version does not take; null
 * for a body of fetches' own form.
 */
export function refuseJobForm(body: object): string | null {
  if ("transcode" in body) {
    return "transcode: it is not supported yet; give POST /commands the URL as an input instead."
  }
  if ("webhook_url" in body) return "webhook_url: this request names it webhook."
  return null
}
