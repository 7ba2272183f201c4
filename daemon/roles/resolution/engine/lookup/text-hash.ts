// Hash of a text: 64 bits as two numbers, without an object for each.

/** Of the last text that was hashed. */
export const textHash = { low: 0, high: 0 }

/** After cyrb53 by bryc, in the public domain, with all its bits. Not for a keyed or a cryptographic use. */
export function hashText(text: string): void {
  let low = 0xdeadbeef
  let high = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    low = Math.imul(low ^ unit, 2_654_435_761)
    high = Math.imul(high ^ unit, 1_597_334_677)
  }
  const mixed = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  textHash.high =
    (Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(mixed ^ (mixed >>> 13), 3_266_489_909)) >>> 0
  textHash.low = mixed >>> 0
}
