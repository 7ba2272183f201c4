// Identifies a peer by its certificate: the site that it names, signed by an authority pinned for that site.
import { createHash, type KeyObject, type X509Certificate } from 'node:crypto'

export type PeerPin = {
  /** May sign the peer's certificate; for no other site than this one. */
  readonly authorities: readonly X509Certificate[]
  /** SHA-256 of the public keys (SPKI) that the peer may have; any when absent. */
  readonly keys: ReadonlySet<string> | undefined
}

/** Peer to what it is known by. */
export type PeerPins = ReadonlyMap<string, PeerPin>

/** `names_no_site`: it names none, or more than one. */
export type CertificateRejection =
  | 'names_no_site'
  | 'not_pinned'
  | 'other_authority'
  | 'other_key'
  | 'not_valid_now'
  | 'wrong_use'

/** Extended key usages of RFC 5280, 4.2.1.12. */
const extendedKeyUsages = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const
const siteUri = /^URI:urn:platform:site:([a-z0-9][a-z0-9-]{0,62})$/

/** Identifies the peer of a certificate whose chain TLS has verified. `now` in epoch milliseconds. */
export function identifyPeer(
  certificate: X509Certificate,
  as: keyof typeof extendedKeyUsages,
  pins: PeerPins,
  now: number,
): { readonly peer: string } | { readonly why: CertificateRejection } {
  const peer = readSiteName(certificate)
  if (peer === undefined) return { why: 'names_no_site' }
  const pin = pins.get(peer)
  if (!pin) return { why: 'not_pinned' }
  const isSigned = pin.authorities.some((each) => certificate.checkIssued(each) && certificate.verify(each.publicKey))
  if (!isSigned) return { why: 'other_authority' }
  if (pin.keys && !pin.keys.has(keyFingerprint(certificate.publicKey))) return { why: 'other_key' }
  if (now < certificate.validFromDate.getTime() || now > certificate.validToDate.getTime()) {
    return { why: 'not_valid_now' }
  }
  if (certificate.ca || !certificate.keyUsage?.includes(extendedKeyUsages[as])) return { why: 'wrong_use' }
  return { peer }
}

/** The one site that the certificate names. A name in quotes could hold what looks like several: none is read then. */
export function readSiteName({ subjectAltName = '' }: X509Certificate): string | undefined {
  if (subjectAltName.includes('"')) return undefined
  const sites = subjectAltName.split(', ').filter((name) => name.startsWith('URI:urn:platform:site:'))
  return sites.length === 1 ? siteUri.exec(sites[0] ?? '')?.[1] : undefined
}

/** SHA-256 of the public key, as `openssl pkey -pubout -outform DER | sha256sum` says it. */
export function keyFingerprint(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')
}
