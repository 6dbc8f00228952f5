/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** The command that downloads something; the key is the variable LATHE_KEY. */
export function curlDownload({ url, name }: { url: string; name: string }): string {
  return `curl -L -H "X-API-Key: $LATHE_KEY" -o ${shellWord(name.replace(/^-/, "./-"))} ${shellWord(url)}`
}

/** The command that sends a JSON body to the API; the key is the variable LATHE_KEY. */
export function curlPost(url: string, body: unknown): string {
  return [
    `curl ${shellWord(url)} \\`,
    `  -H "X-API-Key: $LATHE_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d ${shellWord(JSON.stringify(body, null, 2))}`,
  ].join("\n")
}
