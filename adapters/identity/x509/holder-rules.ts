// Finds the holder of a certificate in the profile's table; a certificate without a row has no holder.
import type { Clearance } from '../../../daemon/kernel/label/label.ts'

export type CertificateHolder = {
  readonly subject: string
  readonly tenant_id: string
  readonly roles: readonly string[]
  readonly clearance?: Clearance | undefined
}

/** A row identifies a certificate by one of these. */
export type HolderRow = CertificateHolder &
  ({ readonly fingerprint: string } | { readonly uri: string } | { readonly email: string } | { readonly dn: string })

export type CertificateIdentity = {
  readonly fingerprint: string
  readonly dn: string
  readonly uris: readonly string[]
  readonly emails: readonly string[]
}

/** Names are compared byte by byte. A certificate that two rows match has no holder. */
export function findHolder(
  certificate: CertificateIdentity,
  rows: readonly HolderRow[],
): CertificateHolder | undefined {
  const [row, ...more] = rows.filter((each) => isNamedBy(certificate, each))
  return more.length === 0 ? row : undefined
}

function isNamedBy({ fingerprint, dn, uris, emails }: CertificateIdentity, row: HolderRow): boolean {
  if ('fingerprint' in row) return row.fingerprint.replaceAll(':', '').toLowerCase() === fingerprint
  if ('uri' in row) return uris.includes(row.uri)
  if ('email' in row) return emails.includes(row.email)
  return dn !== '' && row.dn === dn
}

/**
 * Whether a token belongs to the connection it was sent over: its subject is the certificate's holder, or its actor is
 * (RFC 8693 `act`).
 */
export function belongsTo(
  { subject, tenant_id }: CertificateHolder,
  token: { sub: string; tenant_id: string; act?: { sub: string } | undefined },
): boolean {
  return token.tenant_id === tenant_id && (token.sub === subject || token.act?.sub === subject)
}
