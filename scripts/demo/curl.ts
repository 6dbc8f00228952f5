/** Arguments of curl that send the API key. */
export const CURL_API_KEY_ARGUMENTS = '-H "X-API-Key: $KEY"'

/** Returns the arguments of curl that send a file as the multipart field `file`. */
export function makeCurlFileArguments(path: string): string {
  return `-F ${quoteForShell(`file=@"${path.replace(/["\\]/g, "\\$&")}"`)}`
}

/** Quotes a word for a shell. */
export function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
