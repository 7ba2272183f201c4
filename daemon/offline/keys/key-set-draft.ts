// Drafts the next key set of a site from its keys and the current set, and lists the changes for people.

import * as z from 'zod'
import {
  digestKeySet,
  encodeKeySet,
  type KeySet,
  max_previous_sets,
  no_key_set,
  parseKeySet,
} from '../../kernel/cryptography/key-set.ts'
import { type Jws, jws, type PublicKey } from '../../kernel/cryptography/signatures.ts'
import { parseJsonAs } from '../../kernel/encoding/parse-json.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/**
 * A set in transit between machines: the published sets before it, oldest first, and itself with the signatures so
 * far.
 */
const keySetDraft = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.keyset-draft'),
  sets: z.array(jws).max(max_previous_sets),
  draft: z.strictObject({ payload: jws.shape.payload, signatures: z.array(jws.shape.signatures.element).max(16) }),
})
export type KeySetDraft = z.infer<typeof keySetDraft>

/** Maximum size of a JWS: a dozen keys of ML-DSA-87, or as many others as a set may list. */
const max_payload_chars = 65_536
const too_large_message = 'the keys are too many or too large for one key set'

export type KeySetDraftInput = {
  readonly site: string
  readonly tenant_id: string
  /** The published sets, oldest first. */
  readonly sets: readonly Jws[]
  /** All keys of the site. */
  readonly keys: readonly PublicKey[]
  /** Default: those of the current set, else 1. */
  readonly thresholds: { readonly message?: number | undefined; readonly root?: number | undefined }
  /** New state of a key in this set, by kid. */
  readonly key_changes: Readonly<Record<string, Partial<Pick<PublicKey, 'status' | 'not_after'>>>>
  /** A message key that ended longer ago than this is no longer listed: none of its messages is in transit. */
  readonly retention_ms: number
  /** Epoch milliseconds. */
  readonly now: number
}

/** Drafts the set. Throws `OfflineCommandError` (3) for more keys than one set can hold. */
export function buildKeySetDraft(input: KeySetDraftInput): KeySetDraft {
  const { site, tenant_id, sets, thresholds, key_changes, now } = input
  const latest = sets.at(-1)
  const before = latest && parseKeySet(latest)
  const keys = input.keys
    .map((key) => ({ ...key, ...key_changes[key.kid] }))
    .filter((key) => belongsInKeySet(key, before, input))
    .map(({ use, ...key }) => ({ ...key, use: use === 'root' ? ('root' as const) : ('message' as const) }))
  const set: KeySet = {
    v: 1,
    type: 'platform.keyset',
    site,
    tenant_id,
    version: (before?.version ?? no_key_set.version) + 1,
    previous: latest ? digestKeySet(latest) : no_key_set.digest,
    created: new Date(now).toISOString(),
    thresholds: {
      message: thresholds.message ?? before?.thresholds.message ?? 1,
      root: thresholds.root ?? before?.thresholds.root ?? 1,
    },
    keys,
  }
  const payload = Buffer.from(encodeKeySet(set)).toString('base64url')
  if (payload.length > max_payload_chars)
    throw new OfflineCommandError(3, too_large_message, 'revoke or retire keys that are no longer needed')
  return {
    v: 1,
    type: 'platform.keyset-draft',
    sets: sets.slice(-max_previous_sets),
    draft: { payload, signatures: [] },
  }
}

/** The set that revokes a key lists it: a reader of that set never trusts the key again. */
function belongsInKeySet(key: PublicKey, before: KeySet | undefined, { retention_ms, now }: KeySetDraftInput): boolean {
  if (key.use !== 'message' && key.use !== 'root') return false
  if (key.status === 'revoked') {
    return (
      !before || before.keys.some(({ fingerprint, status }) => fingerprint === key.fingerprint && status !== 'revoked')
    )
  }
  if (key.use === 'root') return key.status === 'active'
  return key.not_after === undefined || now - Date.parse(key.not_after) <= retention_ms
}

/** Parses the set in the draft; undefined if it is not valid. */
export function readDraftedSet({ draft }: KeySetDraft): KeySet | undefined {
  return parseKeySet(draft)
}

/** The draft as a signed set; undefined before the first signature. */
export function toSignedSet({ draft }: KeySetDraft): Jws | undefined {
  return jws.safeParse(draft).data
}

export type KeySetChange = { readonly kid: string; readonly fingerprint: string; readonly change: string }

/** Lists the changes of the keys, one line each. */
export function listKeySetChanges(before: KeySet | undefined, after: KeySet): KeySetChange[] {
  const oldKeys = new Map((before?.keys ?? []).map((key) => [key.fingerprint, key]))
  const listed = after.keys.flatMap((key) => {
    const { kid, fingerprint } = key
    const previous = oldKeys.get(fingerprint)
    const change = previous ? describeKeyChange(previous, key) : `new ${key.use} key (${key.algorithm}), ${key.status}`
    return change ? [{ kid, fingerprint, change }] : []
  })
  const listedFingerprints = new Set(after.keys.map(({ fingerprint }) => fingerprint))
  const removed = (before?.keys ?? []).filter(({ fingerprint }) => !listedFingerprints.has(fingerprint))
  return [...listed, ...removed.map(({ kid, fingerprint }) => ({ kid, fingerprint, change: 'no longer listed' }))]
}

function describeKeyChange(from: PublicKey, to: PublicKey): string {
  const parts = [
    from.status === to.status ? '' : `${from.status} → ${to.status}`,
    from.not_after === to.not_after ? '' : `ends ${to.not_after ?? 'never'}`,
    from.use === to.use ? '' : `${from.use} → ${to.use}`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** Parses a draft; the set in it is not read yet. */
export function parseKeySetDraft(text: string): KeySetDraft | undefined {
  return parseJsonAs(keySetDraft, text)
}
