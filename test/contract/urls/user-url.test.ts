import { describe, expect, test } from "vitest"
import { CLOUD_PLATFORM_ADDRESSES } from "../../../src/contract/urls/user-url.ts"
import { parseUserUrl, isPublicAddress } from "../../../src/contract/urls/user-url.ts"

const PUBLIC = ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111"]

function errorOf(url: string, allowed: string[] = []): string | null {
  const checked = parseUserUrl(url, allowed)
  return "error" in checked ? checked.error : null
}

describe("an address", () => {
  test.for(PUBLIC)("%s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  test.for([
    ["Azure", "168.63.129.16"],
    ["IBM Cloud's infrastructure", "161.26.0.10"],
    ["IBM Cloud's endpoints", "166.11.255.255"],
    ["Google Cloud's restricted APIs", "199.36.153.7"],
    ["Google Cloud's private APIs", "2600:2d00:2:2000::1"],
    ["Equinix Metal", "192.80.8.124"],
    ["Tencent Cloud", "183.60.83.19"],
    ["Alibaba Cloud", "100.100.100.200"],
    ["Oracle Cloud", "192.0.0.192"],
    ["every other cloud", "169.254.169.254"],
    ["AWS", "fd00:ec2::254"],
  ])("of %s (%s) is not public", ([, address = ""]) => {
    expect(isPublicAddress(address)).toBe(false)
    const host = address.includes(":") ? `[${address}]` : address
    expect(errorOf(`http://${host}/`)).toContain("expected a public host")
  })

  test("next to a platform's range is public", () => {
    for (const address of ["168.63.129.17", "161.27.0.1", "199.36.153.12"]) {
      expect(isPublicAddress(address)).toBe(true)
    }
  })

  test("of a platform is listed only if its range is otherwise public", () => {
    // Private ranges are refused elsewhere; the list must not look like a list of them.
    for (const range of CLOUD_PLATFORM_ADDRESSES) {
      expect(range).not.toMatch(/^(?:10|100|169|192\.0|f)/)
    }
  })

  test.for(PUBLIC)("%s of this machine is not public", (address) => {
    const bits = address.includes(":") ? 128 : 32
    expect(isPublicAddress(address, ["8.8.8.8/32", `${address}/${bits}`, "::1/128"])).toBe(false)
  })

  test("of this machine is not public inside an IPv6 address either", () => {
    const own = ["1.1.1.1/32"]
    const spellings = [
      "::ffff:1.1.1.1",
      "::ffff:101:101",
      "::1.1.1.1",
      "64:ff9b::101:101",
      "64:ff9b:1::101:101",
      "2002:101:101::1",
      "2001:0:101:101::1",
    ]
    for (const address of spellings) expect(isPublicAddress(address, own)).toBe(false)
  })
})

describe("a port", () => {
  test.for(["", ":80", ":443", ":1024", ":8080", ":65535"])("%s may be called", (port) => {
    expect(errorOf(`http://a.example${port}/`)).toBeNull()
    expect(errorOf(`https://a.example${port}/`)).toBeNull()
  })

  test.for([0, 1, 22, 25, 79, 81, 442, 444, 587, 1023, 1719, 2049, 5060, 6000, 6667, 6697, 10_080])(
    "%i may not be called",
    (port) => {
      const error = errorOf(`http://a.example:${port}/`)
      expect(error).toContain("expected port 80, 443 or most ports")
      expect(error).toContain(`port ${port} is not allowed`)
    },
  )
})

test("an allowed host may be requested at any port, or only at its listed port", () => {
  expect(errorOf("http://168.63.129.16:22/", ["168.63.129.16"])).toBeNull()
  expect(errorOf("http://127.0.0.1:6667/", ["127.0.0.1:6667"])).toBeNull()
  expect(errorOf("http://127.0.0.1:6668/", ["127.0.0.1:6667"])).toContain("6668")
  expect(errorOf("http://[::1]:25/", ["[::1]"])).toBeNull()
})
