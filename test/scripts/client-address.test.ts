import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { expect, test } from "vitest"
import { clientAddressOf } from "../../scripts/local/front/client-address.ts"

function requestWith(headers: Record<string, string>): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, "remoteAddress", { value: "192.0.2.1" })
  const request = new IncomingMessage(socket)
  request.headers = headers
  return request
}

test("a request comes from who is connected, whatever its headers say", () => {
  expect(clientAddressOf(requestWith({ "x-real-ip": "198.51.100.1" }), undefined)).toBe("192.0.2.1")
})

test.each([
  ["198.51.100.1", "198.51.100.1"],
  ["203.0.113.9, 198.51.100.1", "198.51.100.1"],
  ["2001:db8::1", "2001:db8::1"],
  ["198.51.100.1, no address", "192.0.2.1"],
  ["", "192.0.2.1"],
])("behind a proxy it comes from the last that the header says: '%s'", (said, address) => {
  const request = requestWith({ "x-forwarded-for": said })
  expect(clientAddressOf(request, "x-forwarded-for")).toBe(address)
})
