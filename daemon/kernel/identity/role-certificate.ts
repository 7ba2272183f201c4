// Identifies a role of the site by its TLS certificate: its one name, signed by an authority of the site, valid now.
import type { X509Certificate } from 'node:crypto'

/** Extended key usages of RFC 5280, 4.2.1.12. */
const extendedKeyUsages = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const

/** The end of the connection that shows the certificate. */
export type ConnectionEnd = keyof typeof extendedKeyUsages

export type RoleCertificateTrust = {
  readonly site: string
  readonly authorities: readonly X509Certificate[]
  /** Epoch milliseconds. */
  readonly now: number
}

export type RoleCertificateFault = 'names_no_role' | 'other_site' | 'other_authority' | 'not_valid_now' | 'wrong_use'

const roleUri = /^URI:urn:platform:site:([a-z0-9][a-z0-9-]{0,62}):role:([a-z][a-z0-9-]{0,62})$/

/** The URI by which a certificate names a role. */
export function roleCertificateUri(site: string, role: string): string {
  return `urn:platform:site:${site}:role:${role}`
}

/** All but the time may be judged once for a connection and these authorities; the time, at each use. */
export function identifyRole(
  certificate: X509Certificate,
  end: ConnectionEnd,
  { site, authorities, now }: RoleCertificateTrust,
): { readonly role: string } | { readonly fault: RoleCertificateFault } {
  const named = readRoleName(certificate)
  if (!named) return { fault: 'names_no_role' }
  if (named.site !== site) return { fault: 'other_site' }
  if (!isIssuedByOneOf(certificate, authorities)) return { fault: 'other_authority' }
  if (!isValidAt(certificate, now)) return { fault: 'not_valid_now' }
  if (certificate.ca || !certificate.keyUsage?.includes(extendedKeyUsages[end])) return { fault: 'wrong_use' }
  return { role: named.role }
}

/** `now`: epoch milliseconds. */
export function isValidAt({ validFromDate, validToDate }: X509Certificate, now: number): boolean {
  return now >= validFromDate.getTime() && now <= validToDate.getTime()
}

/** Whether one of the authorities has signed it directly. */
export function isIssuedByOneOf(certificate: X509Certificate, authorities: readonly X509Certificate[]): boolean {
  return authorities.some((each) => certificate.checkIssued(each) && certificate.verify(each.publicKey))
}

/** The one URI of the certificate. A name in quotes could hold what looks like several: none is read then. */
export function readRoleName({ subjectAltName = '' }: X509Certificate): { site: string; role: string } | undefined {
  if (subjectAltName.includes('"')) return undefined
  const uris = subjectAltName.split(', ').filter((name) => name.startsWith('URI:'))
  const [, site, role] = (uris.length === 1 && roleUri.exec(uris[0] ?? '')) || []
  return site === undefined || role === undefined ? undefined : { site, role }
}
