/**
 * Returns the curl command that downloads a file. The command reads the API key from the shell
 * variable LATHE_KEY.
 */
export function makeCurlDownloadCommand({ url, name }: { url: string; name: string }): string {
  return `curl -L -H "X-API-Key: $LATHE_KEY" -o ${shellWord(name.replace(/^-/, "./-"))} ${shellWord(url)}`
}

/** Quotes a text as one word of a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
