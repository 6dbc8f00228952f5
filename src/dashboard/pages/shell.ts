/** The command that downloads something; the key is the variable LATHE_KEY. */
export function curlDownload({ url, name }: { url: string; name: string }): string {
  return `curl -L -H "X-API-Key: $LATHE_KEY" -o ${shellWord(name.replace(/^-/, "./-"))} ${shellWord(url)}`
}

/** A text as one word of a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
