// The parts that the runtime supplies to the site role alone: its keys, peers, carriers, issuer.

import type { DocumentTypes } from '../../kernel/cryptography/document-type.ts'
import type {
  Jws,
  PublicKey,
  Signatures,
  SignatureType,
  VerifiedPayload,
} from '../../kernel/cryptography/signatures.ts'
import type { Refusal } from '../../kernel/error/errors.ts'
import type { Peer, Peers } from '../../kernel/identity/peer.ts'
import type { People } from '../../kernel/identity/person.ts'
import type { Label } from '../../kernel/label/label.ts'
import type { MessageKinds } from '../../kernel/messaging/message-kind.ts'
import type { Transport } from '../../kernel/messaging/transport.ts'
import type { RoleClients } from '../../kernel/operation/operation-contract.ts'
import { part } from '../../kernel/role/part.ts'
import type { DataKeys } from '../../kernel/secret/data-key.ts'
import type { StatusFeed } from '../../shared/coalition/status-feed.ts'
import type { VerificationLists } from '../../shared/verification-lists/verification-lists.ts'
import type { Delegations } from './delegation/model.ts'
import type { QuarantineEntry, QuarantineItem } from './quarantine/model.ts'
import type { FailedAttempts } from './token/failed-attempts.ts'
import type { GrantedClaims, OAuthClient, SubjectToken } from './token/model.ts'

/** The data keys of a role, by its name. */
export const dataKeysPart = part<(role: string) => DataKeys>('data-keys')

export const signaturesPart = part<Signatures>('signatures')
export const peersPart = part<Peers>('peers')
/** Changes the pinned peers. */
export type PinnedPeers = {
  /**
   * One change at a time, durable when it resolves. `change` returns the same peer for no change; its refusal is passed on.
   * Undefined when the peer does not exist.
   */
  change(name: string, change: (peer: Peer) => Promise<Peer | Refusal>): Promise<Peer | Refusal | undefined>
}
export const pinnedPeersPart = part<PinnedPeers>('pinned-peers')

export type KeySets = {
  /** Key sets that are or were in force, oldest first; empty for a site whose keys peers have pinned one by one. */
  all(): readonly Jws[]
  /** The version last sent to each peer by this process. */
  readonly sent_versions: Map<string, number>
  /** The failure last logged for each peer. */
  readonly logged_failures: Map<string, string>
}
export const keySetsPart = part<KeySets>('key-sets')

/** The lists of this machine, with their digest. `read` throws `Refusal('unavailable')`. */
export type OwnVerificationLists = {
  read(): Promise<{ readonly digest: string; readonly lists: VerificationLists }>
}
export const verificationListsPart = part<OwnVerificationLists>('verification-lists')

export const peoplePart = part<People>('people')
export const statusFeedPart = part<StatusFeed>('status-feed')
/** Types of documents that roles declare. */
export const documentTypesPart = part<DocumentTypes>('document-types')
/** Kinds of messages of this version. */
export const messageKindsPart = part<MessageKinds>('message-kinds')
export const transportsPart = part<readonly Transport[]>('transports')

/** Messages that a carrier has verified recently: a lookup replaces the verification of the signature. */
export type VerifiedMessageCache = {
  /** Undefined when this envelope of this peer was not verified recently. */
  find(
    peer: string,
    type: SignatureType,
    envelope: Jws,
  ): (VerifiedPayload & { readonly label: Label; readonly is_label_released: boolean }) | undefined
}
export const verifiedMessageCachePart = part<VerifiedMessageCache>('recently-verified')

export type Issuer = {
  readonly issuer: string
  readonly audience: string
  readonly clients: readonly OAuthClient[]
  readonly role_names: readonly string[]
  /** Of the tokens that its clients get, in seconds. */
  readonly lifetime_s: number
  mint(claims: GrantedClaims, ttl_s: number, latest_exp: number): Promise<string>
  verifySubject(token: string): Promise<SubjectToken | undefined>
  /** Durable, and in force for every process of the site, when it resolves. */
  revoke(target: { readonly jti: string } | { readonly subject: string }, reason: string): Promise<void>
  keys(): readonly PublicKey[]
  jwks(keys: readonly PublicKey[]): { keys: Record<string, unknown>[] }
}
export const issuerPart = part<Issuer>('issuer')
export const delegationsPart = part<Delegations>('delegations')
export const failedAttemptsPart = part<FailedAttempts>('failed-attempts')

/** An item of the quarantine as its folder holds it. */
export type QuarantineFiles = Omit<
  QuarantineItem,
  'site' | 'release' | 'dismissal' | 'sender_tenant_id' | 'is_releasable'
>

export type Quarantines = {
  /** Entries newest first, by id where the times are equal; `after`: the entry before the page. `total`: of all pages. */
  list(
    peer: string | undefined,
    limit: number,
    after?: { at: string; id: string },
  ): Promise<{ entries: QuarantineEntry[]; total: number }>
  /** The item with the current digests of its files; undefined when it does not exist. */
  get(peer: string, id: string): Promise<QuarantineFiles | undefined>
}
export const quarantinesPart = part<Quarantines>('quarantines')

/** `report`: receives the databases copied, of all. */
export type BackupRun = {
  readonly roles: RoleClients
  readonly signal: AbortSignal
  readonly report: (done: number, total: number) => Promise<void>
}

/** Consistent copies of the databases of all roles of the site. */
export type Backups = {
  /**
   * Requests a copy from every role, in a new folder named by the instant, removes all but the newest
   * `keep_count` folders, and returns the name. Rejects with the name of a role without a copy and the code of its
   * refusal, and removes the folder; rejects with the reason of the signal likewise.
   */
  run(keep_count: number, set: BackupRun): Promise<string>
}
export const backupsPart = part<Backups>('backups')

/** A copy of the site's data, named by its folder and the parent folder. */
export type BackupCopy = { readonly name: string; readonly holds: 'yes' | 'no' | 'unknown' }
export type BackupCopies = {
  /** Copies that hold a body with one of these SHA-384 digests, and copies that cannot be read. */
  holding(digests: readonly string[]): Promise<readonly BackupCopy[]>
}
export const backupCopiesPart = part<BackupCopies>('copies')
