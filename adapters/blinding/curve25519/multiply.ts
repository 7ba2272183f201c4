// Multiplies points by a secret: X25519 of the platform, which is native, constant in time, and safe on the twist.
import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto'

const point_bytes = 32
/** PKCS #8 of an X25519 key (RFC 8410) up to the key itself. */
const pkcs8_prefix = Buffer.from('302e020100300506032b656e04220420', 'hex')
/** 2^255 - 19, least significant byte first. */
const prime = Uint8Array.from({ length: point_bytes }, (_, at) =>
  at === 0 ? 0xed : at === point_bytes - 1 ? 0x7f : 0xff,
)

/** X25519 (RFC 7748) of each point; undefined when one is not in canonical form, or gives zero. */
export function multiplyPoints(points: Uint8Array, secret: Uint8Array): Uint8Array | undefined {
  if (points.length % point_bytes !== 0) return undefined
  const key = importPrivateKey(secret)
  const products = new Uint8Array(points.length)
  for (let at = 0; at < points.length; at += point_bytes) {
    const product = multiplyPoint(points.subarray(at, at + point_bytes), key)
    if (!product) return undefined
    products.set(product, at)
  }
  return products
}

function importPrivateKey(secret: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([pkcs8_prefix, secret]), format: 'der', type: 'pkcs8' })
}

/** Points of low order give zero (RFC 7748, section 6.1), which the platform refuses: that reveals nothing of the secret. */
function multiplyPoint(point: Uint8Array, privateKey: KeyObject): Uint8Array | undefined {
  if (!isReduced(point)) return undefined
  const publicKey = createPublicKey({ key: Buffer.from(point), format: 'raw-public', asymmetricKeyType: 'x25519' })
  let product: Uint8Array
  try {
    product = diffieHellman({ privateKey, publicKey })
  } catch {
    return undefined
  }
  return product.some((byte) => byte !== 0) ? product : undefined
}

/** Below the prime: with a second form, a point could be sent twice. */
function isReduced(point: Uint8Array): boolean {
  for (let at = point_bytes - 1; at >= 0; at--) {
    const [ours = 0, most = 0] = [point[at], prime[at]]
    if (ours !== most) return ours < most
  }
  return false
}
