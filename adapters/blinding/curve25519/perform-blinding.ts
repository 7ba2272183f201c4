// A piece of blinding as plain data, so that it can be done here or by another thread.
import { hash } from 'node:crypto'
import { encodeToCurve } from './encode-to-curve.ts'
import { multiplyPoints } from './multiply.ts'

export type BlindingWork =
  | { readonly do: 'values'; readonly domain: string; readonly values: readonly string[]; readonly secret: Uint8Array }
  | {
      readonly do: 'tags'
      readonly domain: string
      readonly points: Uint8Array
      readonly secret: Uint8Array
      readonly tag_bytes: number
    }

/** Domain separation by protocol and suite: the same value gives another point in another protocol. */
const suite_tag = 'platform-psi-1-curve25519_XMD:SHA-512_ELL2_NU_'

/** Points or tags, in order; undefined when a point is invalid. */
export function performBlinding(work: BlindingWork): Uint8Array | undefined {
  if (work.do === 'values') {
    const points = encodeToCurve(
      suite_tag,
      work.values.map((value) => `${work.domain}\n${value}`),
    )
    return multiplyPoints(points, work.secret)
  }
  const products = multiplyPoints(work.points, work.secret)
  if (!products) return undefined
  const count = products.length / 32
  const domain = Buffer.from(`${work.domain}\n`)
  const tags = new Uint8Array(count * work.tag_bytes)
  for (let at = 0; at < count; at++) {
    const digest = hash('sha256', Buffer.concat([domain, products.subarray(at * 32, at * 32 + 32)]), 'buffer')
    tags.set(digest.subarray(0, work.tag_bytes), at * work.tag_bytes)
  }
  return tags
}
