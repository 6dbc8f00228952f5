/**
 * Type declarations of the parts of `node:zlib` that the Worker uses. The Worker thus needs no
 * types of the whole of Node.js.
 */
declare module "node:zlib" {
  type Options = { dictionary?: Uint8Array; level?: number; windowBits?: number }
  export function deflateRawSync(data: string | Uint8Array, options?: Options): Uint8Array
  export function inflateRawSync(data: Uint8Array, options?: Options): Uint8Array
}
