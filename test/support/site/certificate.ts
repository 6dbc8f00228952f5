import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

/**
 * Makes a self-signed certificate of a host, which is valid for two days, and its private key: the
 * files `cert.pem` and `key.pem` of a folder. Returns both in PEM format.
 */
export async function makeTestCertificate(
  folder: string,
  host: string,
): Promise<{ cert: string; key: string }> {
  const [keyPath, certPath] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  const name = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`]
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
  const words = ["req", "-x509", ...ec, ...name, "-keyout", keyPath, "-out", certPath]
  await promisify(execFile)("openssl", words)
  return { cert: await readFile(certPath, "utf8"), key: await readFile(keyPath, "utf8") }
}
