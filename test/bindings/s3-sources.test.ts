import { describe, expect, test } from "vitest"
import { listS3Hosts, readS3Sources } from "../../src/bindings/s3-sources.ts"

const ENTRY = {
  bucket: "films",
  endpoint: "https://account.r2.cloudflarestorage.com",
  region: "auto",
  access_key_id: "KEY-ID-NOBODY-SEES",
  secret_access_key: "secret-nobody-sees",
}

describe("S3_SOURCES", () => {
  test("lists buckets; the empty value lists none", () => {
    expect(readS3Sources(undefined)).toEqual([])
    expect(readS3Sources(" ")).toEqual([])
    expect(readS3Sources("[]")).toEqual([])
    expect(readS3Sources(JSON.stringify([ENTRY]))).toEqual([ENTRY])
  })

  test("has a default region", () => {
    const { region: _, ...rest } = ENTRY
    expect(readS3Sources(JSON.stringify([rest]))).toMatchObject([{ region: "us-east-1" }])
  })

  test.each([
    ["films", "expected a JSON list of objects with bucket"],
    [JSON.stringify(ENTRY), "expected a JSON list of objects with bucket"],
    [`[{"secret_access_key": "secret-nobody-sees"`, "the value is not JSON"],
    [list("films"), "entry 1: expected an object of fields"],
    [list({ ...ENTRY, bucket: "" }), "entry 1: bucket: expected the name of a bucket"],
    [list({ ...ENTRY, bucket: "a/b" }), "entry 1: bucket: expected the name of a bucket"],
    [list(ENTRY, { ...ENTRY, bucket: 5 }), "entry 2: bucket: expected a string"],
    [list(ENTRY, ENTRY), "entry 2: bucket: expected each bucket once"],
    [
      list({ ...ENTRY, endpoint: "store.test" }),
      "entry 1: endpoint: expected an http or https URL",
    ],
    [list({ ...ENTRY, endpoint: "ftp://store.test" }), "endpoint: expected an http or https URL"],
    [list({ ...ENTRY, endpoint: "https://a:b@store.test" }), "without user, query and fragment"],
    [list({ ...ENTRY, endpoint: "https://store.test/?a" }), "without user, query and fragment"],
    [
      list({ ...ENTRY, access_key_id: "" }),
      "entry 1: access_key_id: expected a string of printable",
    ],
    [list({ ...ENTRY, secret_access_key: undefined }), "secret_access_key: expected a string"],
    [list({ ...ENTRY, secret_access_key: "secret-nobody-sees\n" }), "printable ASCII"],
    [list({ ...ENTRY, token: "nobody-sees" }), "entry 1: unknown field token"],
    [list({ ...ENTRY, "NOBODY-SEES": "x" }), "entry 1: the entry has an unknown field"],
  ])("%s is refused without showing it", (text, message) => {
    expect(() => readS3Sources(text)).toThrow(message)
    expect(() => readS3Sources(text)).not.toThrow(/nobody-sees/i)
  })

  test("names the hosts of its stores with their ports", () => {
    const sources = readS3Sources(
      list(ENTRY, { ...ENTRY, bucket: "lan", endpoint: "http://MinIO.lan:9000/s3/" }),
    )
    expect(listS3Hosts(sources)).toEqual(["account.r2.cloudflarestorage.com:443", "minio.lan:9000"])
  })
})

function list(...entries: unknown[]): string {
  return JSON.stringify(entries)
}
