import { expect, test, vi } from "vitest"
import { z } from "zod"
import { readClientAddress, makeCallersEntrypoint } from "../../../scripts/start/front/front.ts"

const env = { FRONT: JSON.stringify({ port: 8787, addresses: ["192.0.2.7", "2001:db8::7"] }) }

const context = { waitUntil: () => undefined }

/** A request as workerd has it: with who is connected in `cf`. */
function requestWith(headers: Record<string, string>, clientIp = "192.0.2.1:38408"): Request {
  const request = new Request("http://192.0.2.7:8787/v1/../v1/health?a=1", { headers })
  Object.defineProperty(request, "cf", { value: { clientIp } })
  return request
}

function setUp() {
  const fetch = vi.fn<(request: Request) => Response>(() => new Response("served"))
  return { fetch, ...makeCallersEntrypoint<typeof env, typeof context>({ fetch }) }
}

test("a request waits until the service is open", async () => {
  const { callers, open, fetch } = setUp()
  const answer = callers.fetch(requestWith({ host: "192.0.2.7:8787" }), env, context)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(fetch).not.toHaveBeenCalled()
  open()
  expect(await (await answer).text()).toBe("served")
})

test("headers of the platform reach the Worker from the platform only", async () => {
  const { callers, open, fetch } = setUp()
  open()
  const own = { "cf-connecting-ip": "9.9.9.9", "mf-original-url": "x", "lathe-outbound-url": "x" }
  await callers.fetch(requestWith({ host: "192.0.2.7", "x-mine": "1", ...own }), env, context)
  const { url, headers } = z.instanceof(Request).parse(fetch.mock.calls[0]?.[0])
  expect(url).toBe("http://192.0.2.7:8787/v1/health?a=1")
  expect(Object.fromEntries(headers)).toMatchObject({
    "cf-connecting-ip": "192.0.2.1",
    "x-mine": "1",
  })
  expect([...headers.keys()].filter((name) => /^(?:mf|lathe)-/.test(name))).toEqual([])
})

test("the address of a request is that of its connection, whatever its headers contain", () => {
  expect(readClientAddress(requestWith({ "x-real-ip": "198.51.100.1" }), undefined)).toBe(
    "192.0.2.1",
  )
  expect(readClientAddress(requestWith({}, "[2001:db8::1]:1"), undefined)).toBe("2001:db8::1")
})

test.each([
  ["198.51.100.1", "198.51.100.1"],
  ["203.0.113.9, 198.51.100.1", "198.51.100.1"],
  ["2001:db8::1", "2001:db8::1"],
  ["198.51.100.1, no address", "192.0.2.1"],
  ["", "192.0.2.1"],
])("behind a proxy the address is the last one of the header: '%s'", (said, address) => {
  const request = requestWith({ "x-forwarded-for": said })
  expect(readClientAddress(request, "x-forwarded-for")).toBe(address)
})
