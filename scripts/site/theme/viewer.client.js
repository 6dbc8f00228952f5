// Shows the OpenAPI document of this service by Scalar, whose script stands before this.

/**
 * @typedef {{ createApiReference: (place: string, configuration: Record<string, unknown>) => void }} Viewer
 */
/** @type {{ Scalar?: Viewer }} */
const { Scalar } = /** @type {typeof globalThis & { Scalar?: Viewer }} */ (globalThis)

/** Colors with the contrast that Scalar's own lack. */
const CUSTOM_CSS = `
.light-mode {
  --scalar-color-2: #4a4a4a; --scalar-color-3: #666; --scalar-color-green: #00734a;
  --scalar-color-red: #b3261e; --scalar-color-yellow: #7c4a03; --scalar-color-orange: #9a3d00;
}
.dark-mode { --scalar-color-2: #b3b3b3; --scalar-color-3: #9a9a9a; --scalar-color-red: #ff9c92; }
`

const place = document.querySelector("#viewer")
const answer = await fetch("/v1/openapi.json")
const text = await answer.text()
place?.replaceChildren()
Scalar?.createApiReference("#viewer", {
  content: removeLinks(text),
  customCss: CUSTOM_CSS,
  // Requests to the vendor's sites are turned off.
  agent: { disabled: true },
  hideClientButton: true,
  mcp: { disabled: true },
  showDeveloperTools: "never",
  telemetry: false,
  withDefaultFonts: false,
})
new MutationObserver(mendInputs).observe(document.body, { childList: true, subtree: true })
mendInputs()

/**
 * Removes the links to error codes, which Scalar shows inside buttons.
 * @param {string} document
 */
function removeLinks(document) {
  return document.replaceAll(/\[(`\w+`)\]\(\/docs\/errors\/\w+\)/g, "$1")
}

/** Adds the attributes that a combobox of Scalar lacks for screen readers. */
function mendInputs() {
  for (const input of document.querySelectorAll("[role=combobox]:not([aria-expanded])")) {
    input.setAttribute("aria-expanded", "false")
    input.setAttribute("aria-controls", input.parentElement?.id ?? "viewer")
  }
}
