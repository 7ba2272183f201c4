// What boot supplies to the site role alone: its keys, peers, carriers, issuer.
import { part } from '../../kernel/call.ts'
import type { Jws, PublicKey, Signatures, SignatureType, Verified } from '../../kernel/keys.ts'
import type { Peers } from '../../kernel/peer.ts'
import type { Transport } from '../../kernel/transport.ts'
import type { QuarantineEntry } from './quarantine/model.ts'
import type { Client, GrantedClaims, SubjectToken } from './token/model.ts'

export const signaturesPart = part<Signatures>('signatures')
export const peersPart = part<Peers>('peers')
export const transportsPart = part<readonly Transport[]>('transports')

/** Messages that a carrier has verified a moment ago; asking again costs a look instead of a signature. */
export type RecentlyVerified = {
  /** Undefined when this envelope of this peer was not verified recently. */
  find(peer: string, type: SignatureType, envelope: Jws): Verified | undefined
}
export const recentlyVerifiedPart = part<RecentlyVerified>('recently-verified')

export type Issuer = {
  readonly issuer: string
  readonly audience: string
  readonly clients: readonly Client[]
  readonly role_names: readonly string[]
  mint(claims: GrantedClaims, ttl_s: number, latest_exp: number): Promise<string>
  verifySubject(token: string): Promise<SubjectToken | undefined>
  /** Durable, and in force for every process of the site, when it resolves. */
  revoke(what: { readonly jti: string } | { readonly subject: string }, reason: string): Promise<void>
  keys(): readonly PublicKey[]
  jwks(keys: readonly PublicKey[]): { keys: Record<string, unknown>[] }
}
export const issuerPart = part<Issuer>('issuer')

export type Quarantines = {
  /** Newest first, by id where the times are equal; from behind `after` on. */
  list(peer: string | undefined, limit: number, after?: { at: string; id: string }): Promise<QuarantineEntry[]>
}
export const quarantinesPart = part<Quarantines>('quarantines')

/** Consistent copies of this process's databases. */
export type Backups = {
  /** Copies every database into a new folder named by the instant and drops all but the newest `keep`; its name. */
  run(dir: string | undefined, keep: number): Promise<string>
}
export const backupsPart = part<Backups>('backups')
