// JSON from bytes of another party.

/** The JSON value of the bytes; undefined when they are not UTF-8 or not JSON. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}
