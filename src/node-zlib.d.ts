/** What of Node's zlib is used of workerd's, without the types of all of Node. */
declare module "node:zlib" {
  type Options = { dictionary?: Uint8Array; level?: number; windowBits?: number }
  export function deflateRawSync(data: string | Uint8Array, options?: Options): Uint8Array
  export function inflateRawSync(data: Uint8Array, options?: Options): Uint8Array
}
