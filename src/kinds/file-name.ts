const NAME_LENGTH_MAX = 200

/** The name of a stored file from the name that somebody gave: its last segment, made harmless. */
export function fileNameOf(given: string): string {
  const segment = given.split(/[/\\]/).at(-1) ?? ""
  const name = segment
    .toWellFormed()
    .normalize("NFC")
    // Control characters, and those that turn or hide text.
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "")
    .trim()
  return /^\.*$/.test(name) ? "file" : shorten(name)
}

/** The name that a URL gives to what it names, as far as that can be told from the URL alone. */
export function nameOfUrl({ pathname }: URL): string {
  const segment = pathname.split("/").at(-1) ?? ""
  try {
    return fileNameOf(decodeURIComponent(segment))
  } catch {
    return fileNameOf(segment)
  }
}

/** The name that an object gives to its file, by the last of the keys that it may have. */
export function nameOfKey(keys: readonly string[]): string {
  return fileNameOf(keys.at(-1) ?? "")
}

function shorten(name: string): string {
  if (name.length <= NAME_LENGTH_MAX) return name
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ""
  return name.slice(0, NAME_LENGTH_MAX - extension.length).toWellFormed() + extension
}
