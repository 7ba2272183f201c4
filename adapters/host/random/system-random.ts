// The machine's randomness, drawn from the kernel in pages since each draw costs a system call.
import { randomFillSync } from 'node:crypto'

const page_bytes = 4_096

/** Draws `bytes` random bytes as lower-case hexadecimal. Used bytes are wiped: what was drawn cannot be read back. */
export function systemRandom(): (bytes: number) => string {
  const page = Buffer.allocUnsafeSlow(page_bytes)
  let used = page_bytes
  return (bytes) => {
    if (!Number.isInteger(bytes) || bytes < 1) throw new RangeError('the number of random bytes must be 1 or more')
    if (bytes > page_bytes) return randomFillSync(Buffer.allocUnsafe(bytes)).toString('hex')
    if (used + bytes > page_bytes) {
      randomFillSync(page)
      used = 0
    }
    const drawn = page.toString('hex', used, used + bytes)
    page.fill(0, used, used + bytes)
    used += bytes
    return drawn
  }
}
