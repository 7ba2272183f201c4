// Judges a certificate at each use: its path, the revocation lists of each authority, the profile's table, own revocations.
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { CredentialClaims, PresentedCertificate } from '../../../daemon/kernel/identity/identity.ts'
import { type CertificateHolder, type CertificateIdentity, findHolder, type HolderRow } from './holder-rules.ts'

type HolderCertificate = CertificateIdentity & {
  readonly subject: string
  readonly serial: string
  readonly not_before: number
  readonly not_after: number
}

/** A whole list of revoked serial numbers of one authority; times in epoch milliseconds. */
export type IssuerRevocationList<C> = {
  readonly this_update: number
  readonly next_update: number
  readonly serials: ReadonlySet<string>
  isIssuedBy(authority: C): boolean
}

export type CertificateChain<C> = {
  readonly leaf: C
  readonly steps: readonly { readonly certificate: C; readonly issuer: C }[]
}

export type CertificateHolderOptions<C extends HolderCertificate> = {
  /** The path to a root at this time, or why none is valid. */
  readonly buildChain: (der: Buffer, now: number) => CertificateChain<C> | { readonly refused: string }
  /** The current lists. Absent: revocation lists are not checked. Throws `Refusal('unavailable')`. */
  readonly lists?: (() => readonly IssuerRevocationList<C>[]) | undefined
  readonly rows: readonly HolderRow[]
  readonly isRevoked: (token: { jti: string; sub: string; iat: number }) => boolean
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Called when a certificate is refused, with the reason and the values that the profile would have to name. */
  readonly refused: (reason: string, of?: { readonly fingerprint: string; readonly dn: string }) => void
}

/** How far the clock of an authority may be ahead. */
const skew_ms = 300_000

/** The holder of a certificate: the same object for the same path, so that derived values are computed once. */
type KnownHolder<C> = {
  readonly path: CertificateChain<C>
  readonly claims: CredentialClaims
  readonly holder: CertificateHolder
  readonly iat: number
}

export type HolderClaims = { readonly claims: CredentialClaims; readonly holder: CertificateHolder }

/**
 * Finds the holder of a certificate; undefined when it has none. Throws `Refusal('unavailable')` when revocation cannot be
 * checked: a list is missing or overdue.
 */
export function certificateHolders<C extends HolderCertificate>(options: CertificateHolderOptions<C>) {
  const { buildChain, lists, rows, isRevoked, now, refused } = options
  const known = new WeakMap<PresentedCertificate, KnownHolder<C>>()

  const learn = (shown: PresentedCertificate): KnownHolder<C> | undefined => {
    const path = shown.fault === undefined ? buildChain(Buffer.from(shown.der), now()) : { refused: shown.fault }
    if ('refused' in path) {
      refused(path.refused)
      return undefined
    }
    const { leaf } = path
    // Sites and roles are known by other authorities, for other purposes, whatever the table says.
    if (leaf.uris.some((uri) => uri.startsWith('urn:platform:site:'))) {
      refused('names_a_site', leaf)
      return undefined
    }
    const holder = findHolder(leaf, rows)
    if (!holder) {
      refused('nobody', { fingerprint: leaf.fingerprint, dn: leaf.dn })
      return undefined
    }
    const learned = { path, holder, claims: buildClaims(leaf, holder), iat: Math.floor(leaf.not_before / 1_000) }
    known.set(shown, learned)
    return learned
  }

  return (shown: PresentedCertificate): HolderClaims | undefined => {
    const found = known.get(shown) ?? learn(shown)
    if (!found) return undefined
    const { claims, holder, iat, path } = found
    const reason =
      (isChainExpired(path, now()) ? 'expired' : undefined) ??
      (lists && isRevokedByAuthority(path, lists(), now()) ? 'revoked_by_its_authority' : undefined) ??
      (isRevoked({ jti: claims.jti, sub: claims.sub, iat }) ? 'revoked' : undefined)
    if (reason === undefined) return { claims, holder }
    refused(reason, path.leaf)
    return undefined
  }
}

function buildClaims(
  { fingerprint, not_after }: HolderCertificate,
  { subject, tenant_id, roles, clearance }: CertificateHolder,
): CredentialClaims {
  return {
    sub: subject,
    tenant_id,
    roles: [...roles],
    ...(clearance ? { clearance } : {}),
    jti: `x509:${fingerprint}`,
    exp: Math.floor(not_after / 1_000),
  }
}

function isChainExpired<C extends HolderCertificate>({ steps }: CertificateChain<C>, now: number): boolean {
  return steps.some(({ certificate, issuer }) => now >= Math.min(certificate.not_after, issuer.not_after))
}

function isRevokedByAuthority<C extends HolderCertificate>(
  { steps }: CertificateChain<C>,
  lists: readonly IssuerRevocationList<C>[],
  now: number,
): boolean {
  return steps.some(({ certificate, issuer }) => {
    const [newest] = lists.filter((list) => list.isIssuedBy(issuer)).sort((a, b) => b.this_update - a.this_update)
    if (!newest || newest.this_update > now + skew_ms || now >= newest.next_update) {
      throw new Refusal('unavailable', 'no revocation list of an authority is current')
    }
    return newest.serials.has(certificate.serial)
  })
}
