// Signs a draft of a key set with root keys that lie in a folder, as on a machine that is never connected.
import { readKeyFiles, type StoredKey } from '../../../adapters/keys/jose/key-files.ts'
import { rememberSigned, signedHere } from '../../../adapters/keys/jose/key-set-files.ts'
import { signWith, verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { digestOf, type KeySet, keySetIn, no_key_set, standing, unfit } from '../../kernel/key-set.ts'
import { ownFault } from '../../kernel/key-succession.ts'
import type { Jws } from '../../kernel/keys.ts'
import { type KeySetDraft, saidBy } from './key-set-draft.ts'
import { Objection } from './objection.ts'

export type Signing = {
  readonly draft: KeySetDraft
  /** Only this one; else all root keys of the folder that count. */
  readonly kid?: string | undefined
  readonly passphrase?: (() => string | undefined) | undefined
  /** Another set was signed here as this version, and never published. */
  readonly instead: boolean
}

/** The set that is in force by the draft, and the one that it would put in force. Throws `Objection` for what is no successor. */
export async function successorIn(draft: KeySetDraft): Promise<{ before: KeySet | undefined; after: KeySet }> {
  const after = saidBy(draft)
  if (!after) throw new Objection(2, 'the file holds no key set')
  const last = draft.sets.at(-1)
  const before = last && keySetIn(last)
  if (last) {
    const fault = before ? await ownFault(before, last, { signatures: { verify: verifyJws } }) : undefined
    if (!before || fault) throw new Objection(3, 'the key set in force is not signed by its own root keys')
  }
  const fault = notFollowing(before, last ? digestOf(last) : no_key_set.digest, after) ?? unfit(after)
  if (fault) throw new Objection(3, `this is no successor of the key set in force: ${fault}`)
  return { before, after }
}

function notFollowing(before: KeySet | undefined, digest: string, after: KeySet): string | undefined {
  if (after.version !== (before?.version ?? 0) + 1) return 'its version is not the next'
  if (after.previous !== digest) return 'it follows another set'
  if (before && (before.site !== after.site || before.tenant_id !== after.tenant_id))
    return 'it is that of another site'
  if (before && Date.parse(after.created) < Date.parse(before.created)) return 'it says that it is older'
  return undefined
}

/**
 * Adds signatures by the root keys of the folder. Throws `Objection` when none of them counts for the set in force or
 * for this one, and when they have signed another set of this version, or a later one; and `Locked`.
 */
export async function signDraft(dir: string, given: Signing): Promise<{ draft: KeySetDraft; signers: string[] }> {
  const { draft } = given
  const { before, after } = await successorIn(draft)
  const payload = Buffer.from(draft.draft.payload, 'base64url')
  const keys = ableIn(dir, before, after, given.kid)
  const { highest, same } = signedHere(dir, after.site, after.version)
  requireKnown(dir, draft)
  if (highest > after.version) throw new Objection(3, `version ${highest} was signed here already`)
  if (same && same.payload !== draft.draft.payload && !given.instead) {
    throw new Objection(
      3,
      `another key set was signed here as version ${after.version}`,
      'if that one was never published and never will be: add --instead',
    )
  }
  const made = await signWith(keys, 'keyset', payload, given.passphrase)
  rememberSigned(dir, after.site, after.version, made)
  const signers = keys.map(({ public_key }) => public_key.kid)
  return { draft: { ...draft, draft: withSignatures(draft.draft, made) }, signers }
}

/** A machine that is not trusted here could show another set as the one in force, and so hide what changes. */
function requireKnown(dir: string, { sets }: KeySetDraft): void {
  const last = sets.at(-1)
  const set = last && keySetIn(last)
  const { same } = set ? signedHere(dir, set.site, set.version) : {}
  if (same && same.payload !== last?.payload) {
    throw new Objection(3, `version ${set?.version} as the draft has it is not the one that was signed here`)
  }
}

function withSignatures(given: KeySetDraft['draft'], made: Jws): KeySetDraft['draft'] {
  const fresh = new Set(made.signatures.map((signature) => signature.protected))
  const others = given.signatures.filter((signature) => !fresh.has(signature.protected))
  return { payload: given.payload, signatures: [...others, ...made.signatures] }
}

function ableIn(dir: string, before: KeySet | undefined, after: KeySet, kid: string | undefined): StoredKey[] {
  const counting = [before, after].flatMap((set) => (set ? standing(set.keys, 'root', after.created) : []))
  const wanted = new Set(counting.map(({ fingerprint }) => fingerprint))
  const found = readKeyFiles(dir).filter(
    ({ public_key, private_jwk, private_jwe }) =>
      // Before the first set nobody knows which root keys people have pinned: an older one here may be among them.
      (wanted.has(public_key.fingerprint) || (!before && public_key.use === 'root')) &&
      (private_jwk !== undefined || private_jwe !== undefined) &&
      (kid === undefined || public_key.kid === kid),
  )
  if (found.length > 0) return found
  throw new Objection(
    3,
    `no root key in ${dir} counts for this key set`,
    '`platform keys list --dir DIR` shows what is there',
  )
}
