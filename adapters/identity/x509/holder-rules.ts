// Who holds a certificate, by the profile's table; whoever is not in it is nobody.
import type { Clearance } from '../../../daemon/kernel/label/label.ts'

export type CertificateHolder = {
  readonly subject: string
  readonly tenant_id: string
  readonly roles: readonly string[]
  readonly clearance?: Clearance | undefined
}

/** One row names a certificate by one of these. */
export type HolderRow = CertificateHolder &
  ({ readonly fingerprint: string } | { readonly uri: string } | { readonly email: string } | { readonly dn: string })

export type CertificateIdentity = {
  readonly fingerprint: string
  readonly dn: string
  readonly uris: readonly string[]
  readonly emails: readonly string[]
}

/** Letter by letter: names that look alike are others. Two rows for one certificate contradict each other: nobody. */
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
 * Whether a token shown over a connection belongs there: it is the holder's own, or one in which the holder acts for
 * somebody (RFC 8693 `act`).
 */
export function belongsTo(
  { subject, tenant_id }: CertificateHolder,
  token: { sub: string; tenant_id: string; act?: { sub: string } | undefined },
): boolean {
  return token.tenant_id === tenant_id && (token.sub === subject || token.act?.sub === subject)
}
