// Signs a draft of a key set with root keys in a folder, such as on a machine that is never connected.
import { hasPrivateHalf, readKeyFiles, type StoredKey } from '../../../adapters/keys/jose/key-files.ts'
import { readSignedVersions, recordSigned } from '../../../adapters/keys/jose/key-set-files.ts'
import { signWithKeys, verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import {
  digestKeySet,
  findKeySetFault,
  type KeySet,
  no_key_set,
  parseKeySet,
  readKeySet,
  selectUsableKeys,
} from '../../kernel/cryptography/key-set.ts'
import type { Jws } from '../../kernel/cryptography/signatures.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import { checkKeySet } from '../../shared/key-set/key-succession.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { KeySetDraft } from './key-set-draft.ts'

export type KeySetSigningOptions = {
  readonly draft: KeySetDraft
  /** Sign only with this key; default: all valid root keys of the folder. */
  readonly kid?: string | undefined
  readonly passphrase?: (() => string | undefined) | undefined
  /** Another set of this version was signed here, and never published. */
  readonly instead: boolean
}

/**
 * Returns the current set of the draft and its successor. Throws `OfflineCommandError` if the draft is not a
 * successor.
 */
export async function resolveSuccessor(draft: KeySetDraft): Promise<{ before: KeySet | undefined; after: KeySet }> {
  const after = readKeySet(draft.draft)
  if (isRefusal(after)) throw new OfflineCommandError(2, `the draft cannot be used: ${after.message}`)
  const latest = draft.sets.at(-1)
  const before = latest && parseKeySet(latest)
  if (latest) {
    const fault = before ? await checkKeySet(before, latest, { signatures: { verify: verifyJws } }) : undefined
    if (!before || fault) throw new OfflineCommandError(3, 'the current key set is not signed by its own root keys')
  }
  const fault =
    findSuccessionFault(before, latest ? digestKeySet(latest) : no_key_set.digest, after) ?? findKeySetFault(after)
  if (fault) throw new OfflineCommandError(3, `the draft is not a successor of the current key set: ${fault}`)
  return { before, after }
}

function findSuccessionFault(before: KeySet | undefined, digest: string, after: KeySet): string | undefined {
  if (after.version !== (before?.version ?? 0) + 1) return 'its version is not the next'
  if (after.previous !== digest) return 'it follows another set'
  if (before && (before.site !== after.site || before.tenant_id !== after.tenant_id))
    return 'it belongs to another site'
  if (before && Date.parse(after.created) < Date.parse(before.created)) return 'its creation time is older'
  return undefined
}

/**
 * Adds signatures of the root keys of the folder. Throws `OfflineCommandError` if none of them is valid for the
 * current set or for this one, and if they have signed another set of this version or a later one; and
 * `KeyLockedError`.
 */
export async function signKeySetDraft(
  dir: string,
  options: KeySetSigningOptions,
): Promise<{ draft: KeySetDraft; signers: string[] }> {
  const { draft } = options
  const { before, after } = await resolveSuccessor(draft)
  const payload = Buffer.from(draft.draft.payload, 'base64url')
  const keys = findSigningKeys(dir, before, after, options.kid)
  const { highest, same } = readSignedVersions(dir, after.site, after.version)
  requireKnownPredecessor(dir, draft)
  if (highest > after.version)
    throw new OfflineCommandError(
      3,
      `version ${highest} was already signed here; the draft is version ${after.version}`,
    )
  if (same && same.payload !== draft.draft.payload && !options.instead) {
    throw new OfflineCommandError(
      3,
      `another key set was signed here as version ${after.version}`,
      'add --instead only if that set was never published and never will be',
    )
  }
  const signatures = await signWithKeys(keys, 'keyset', payload, options.passphrase)
  recordSigned(dir, after.site, after.version, signatures)
  const signers = keys.map(({ public_key }) => public_key.kid)
  return { draft: { ...draft, draft: mergeSignatures(draft.draft, signatures) }, signers }
}

/** An untrusted machine could present another set as the current one, and so hide changes. */
function requireKnownPredecessor(dir: string, { sets }: KeySetDraft): void {
  const latest = sets.at(-1)
  const set = latest && parseKeySet(latest)
  const { same } = set ? readSignedVersions(dir, set.site, set.version) : {}
  if (same && same.payload !== latest?.payload) {
    throw new OfflineCommandError(3, `version ${set?.version} in the draft differs from the one that was signed here`)
  }
}

function mergeSignatures(drafted: KeySetDraft['draft'], signatures: Jws): KeySetDraft['draft'] {
  const replaced = new Set(signatures.signatures.map((signature) => signature.protected))
  const otherSignatures = drafted.signatures.filter((signature) => !replaced.has(signature.protected))
  return { payload: drafted.payload, signatures: [...otherSignatures, ...signatures.signatures] }
}

function findSigningKeys(dir: string, before: KeySet | undefined, after: KeySet, kid: string | undefined): StoredKey[] {
  const counting = [before, after].flatMap((set) => (set ? selectUsableKeys(set.keys, 'root', after.created) : []))
  const usable = new Set(counting.map(({ fingerprint }) => fingerprint))
  const signingKeys = readKeyFiles(dir).filter(
    ({ public_key, ...halves }) =>
      // Before the first set, the root keys that peers have pinned are unknown: an older one here may be among them.
      (usable.has(public_key.fingerprint) || (!before && public_key.use === 'root')) &&
      hasPrivateHalf(halves) &&
      (kid === undefined || public_key.kid === kid),
  )
  if (signingKeys.length > 0) return signingKeys
  throw new OfflineCommandError(
    3,
    `no root key in ${dir} is valid for this key set`,
    '`platform keys list --dir DIR` lists the keys there',
  )
}
