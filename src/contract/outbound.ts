/**
 * On one machine, fetches of the Worker pass a handler that checks the addresses of the host. An
 * answer with this header is the handler's own: nothing was reached, and the header says why.
 */
export const OUTBOUND_ERROR_HEADER = "lathe-outbound-error"
