/** What the header of a multipart part says: the field's name, and a file's name where it has one. */
export type PartNames = { name: string; fileName: string | undefined }

/**
 * Reads the Content-Disposition of a part as browsers and curl write it: UTF-8 in quotes, a quote
 * in them as `%22` or `\"`, or `filename*`. The multipart parser itself knows Latin-1 names only.
 */
export function readPartNames(header: string): PartNames {
  const plain = parameter(header, "filename")
  return {
    name: parameter(header, "name") ?? "",
    fileName: extendedFileName(header) ?? plain,
  }
}

function parameter(header: string, name: string): string | undefined {
  const quoted = new RegExp(`;\\s*${name}="((?:[^"\\\\]|\\\\.)*)"`, "i").exec(header)?.[1]
  if (quoted !== undefined) return unescape(quoted)
  return new RegExp(`;\\s*${name}=([^;"\\s]+)`, "i").exec(header)?.[1]
}

function unescape(quoted: string): string {
  return quoted
    .replace(/\\(["\\])/g, "$1")
    .replace(/%22/g, '"')
    .replace(/%0[AD]/gi, "")
}

function extendedFileName(header: string): string | undefined {
  const encoded = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(header)?.[1]
  if (encoded === undefined) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}
