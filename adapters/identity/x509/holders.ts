// Certificates judged at each use: the path, the revocation lists of each authority on it, the table, the site's own word.
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { CredentialClaims, ShownCertificate } from '../../../daemon/kernel/identity/identity.ts'
import { type Holder, holderOf, type Identified, type Row } from './holder-rules.ts'

type Named = Identified & {
  readonly subject: string
  readonly serial: string
  readonly not_before: number
  readonly not_after: number
}

/** A whole list of revoked serial numbers of one authority; times in epoch milliseconds. */
export type List<C> = {
  readonly this_update: number
  readonly next_update: number
  readonly serials: ReadonlySet<string>
  isOf(authority: C): boolean
}

export type Path<C> = {
  readonly leaf: C
  readonly steps: readonly { readonly certificate: C; readonly issuer: C }[]
}

export type HolderOptions<C extends Named> = {
  /** The path to a root at this time, or why there is none. */
  readonly pathOf: (der: Buffer, now: number) => Path<C> | { readonly refused: string }
  /** The lists as they are now; absent: revocation is not looked for. Throws `Refusal('unavailable')`. */
  readonly lists?: (() => readonly List<C>[]) | undefined
  readonly rows: readonly Row[]
  readonly isRevoked: (token: { jti: string; sub: string; iat: number }) => boolean
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Why a certificate does not count, with what the profile would have to name. */
  readonly refused: (reason: string, of?: { readonly fingerprint: string; readonly dn: string }) => void
}

/** By how much the clock of an authority may be ahead. */
const skew_ms = 300_000

/** What a certificate gives: the same object for the same path, so that what is derived from it is derived once. */
type Known<C> = {
  readonly path: Path<C>
  readonly claims: CredentialClaims
  readonly holder: Holder
  readonly iat: number
}

export type Held = { readonly claims: CredentialClaims; readonly holder: Holder }

/**
 * Who holds a certificate; undefined for nobody. Throws `Refusal('unavailable')` when revocation cannot be judged: a
 * list that is missing, or whose next one is due.
 */
export function certificateHolders<C extends Named>(options: HolderOptions<C>) {
  const { pathOf, lists, rows, isRevoked, now, refused } = options
  const known = new WeakMap<ShownCertificate, Known<C>>()

  const learn = (shown: ShownCertificate): Known<C> | undefined => {
    const path = shown.fault === undefined ? pathOf(Buffer.from(shown.der), now()) : { refused: shown.fault }
    if ('refused' in path) {
      refused(path.refused)
      return undefined
    }
    const { leaf } = path
    const holder = holderOf(leaf, rows)
    if (!holder) {
      refused('nobody', { fingerprint: leaf.fingerprint, dn: leaf.dn })
      return undefined
    }
    const learned = { path, holder, claims: claimsOf(leaf, holder), iat: Math.floor(leaf.not_before / 1_000) }
    known.set(shown, learned)
    return learned
  }

  return (shown: ShownCertificate): Held | undefined => {
    const found = known.get(shown) ?? learn(shown)
    if (!found) return undefined
    const { claims, holder, iat, path } = found
    const reason =
      (isOver(path, now()) ? 'expired' : undefined) ??
      (lists && isListed(path, lists(), now()) ? 'revoked_by_its_authority' : undefined) ??
      (isRevoked({ jti: claims.jti, sub: claims.sub, iat }) ? 'revoked' : undefined)
    if (reason === undefined) return { claims, holder }
    refused(reason, path.leaf)
    return undefined
  }
}

function claimsOf(
  { fingerprint, not_after }: Named,
  { subject, tenant_id, roles, clearance }: Holder,
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

function isOver<C extends Named>({ steps }: Path<C>, now: number): boolean {
  return steps.some(({ certificate, issuer }) => now >= Math.min(certificate.not_after, issuer.not_after))
}

function isListed<C extends Named>({ steps }: Path<C>, lists: readonly List<C>[], now: number): boolean {
  return steps.some(({ certificate, issuer }) => {
    const [newest] = lists.filter((list) => list.isOf(issuer)).sort((a, b) => b.this_update - a.this_update)
    if (!newest || newest.this_update > now + skew_ms || now >= newest.next_update) {
      throw new Refusal('unavailable', 'no revocation list of an authority is current')
    }
    return newest.serials.has(certificate.serial)
  })
}
