/**
 * On one machine, fetches of the Worker pass a handler that checks the addresses of the host. An
 * answer with this header is the handler's own: nothing was reached, and the header says why.
 */
export const OUTBOUND_ERROR_HEADER = "lathe-outbound-error"

/** Where a request through the handler is to go, with its scheme. */
export const OUTBOUND_URL_HEADER = "lathe-outbound-url"
