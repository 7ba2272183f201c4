// The kernel's signatures by JWS: what is signed says what it is for, and only pinned keys decide what counts.
import { FlattenedSign, flattenedVerify } from 'jose'
import { dropRevokedKeys, hasKeyEnded } from '../../../daemon/kernel/cryptography/counting-signers.ts'
import { isCanonicalBase64url, readKeyMaterial } from '../../../daemon/kernel/cryptography/public-jwk.ts'
import {
  allowedUses,
  type Jws,
  jws,
  type PublicKey,
  type Signatures,
  type SignatureType,
  type VerificationFailure,
  type VerifiedPayload,
} from '../../../daemon/kernel/cryptography/signatures.ts'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import { importSigningKey, importVerifyingKey } from './crypto-keys.ts'
import type { StoredKey } from './key-files.ts'
import { openKeyFolder } from './key-folder.ts'
import { signByCommand } from './signing-command.ts'
import { parseStrictHeader } from './strict-header.ts'

export type JoseSignatureOptions = {
  readonly dir: string
  /** Epoch milliseconds; a key past its `not_after` signs no more. */
  readonly now?: () => number
  /** Opens keys under a passphrase; called when the first of them signs. */
  readonly passphrase?: (() => string | undefined) | undefined
}

/**
 * Signatures with the keys of the folder, which is looked at each time: a rotation by the command line counts at once.
 * `sign` uses every active message key (usually one), since a peer's threshold may require several.
 */
export function joseSignatures({ dir, now = Date.now, passphrase }: JoseSignatureOptions): Signatures {
  const folder = openKeyFolder(dir)
  return {
    async sign(type, payload) {
      const able = folder
        .keys()
        .filter(({ public_key }) => public_key.use === 'message' && mayStillSign(public_key, now()))
      if (able.length === 0) throw new Refusal('unavailable', 'the site has no active message key')
      return signWithKeys(able, type, payload, passphrase)
    },
    verify: verifyJws,
    publicKeys: () => folder.keys().map((key) => key.public_key),
  }
}

function mayStillSign(key: PublicKey, now: number): boolean {
  return key.status === 'active' && !hasKeyEnded(key, now)
}

/**
 * Signs with exactly these keys (a root key, a person's own). Throws for a key of another use,
 * above 48 KiB, `KeyLockedError`, and `Refusal` (unavailable) if a signing command fails.
 */
export async function signWithKeys(
  keys: readonly StoredKey[],
  type: SignatureType,
  payload: Uint8Array,
  passphrase?: () => string | undefined,
): Promise<Jws> {
  const signatures: Jws['signatures'] = []
  for (const key of keys) {
    const { algorithm, kid, use } = key.public_key
    if (!allowedUses(type).includes(use)) throw new Error(`${kid} is a ${use} key; it does not sign a ${type}`)
    const header = { alg: algorithm, kid, typ: headerType(type) }
    signatures.push(await signWithKey(key, header, payload, passphrase))
  }
  return jws.parse({ payload: Buffer.from(payload).toString('base64url'), signatures })
}

async function signWithKey(
  key: StoredKey,
  header: { readonly alg: string; readonly kid: string; readonly typ: string },
  payload: Uint8Array,
  passphrase?: () => string | undefined,
): Promise<Jws['signatures'][number]> {
  const { public_key, signing_command } = key
  if (signing_command) {
    const encoded = Buffer.from(JSON.stringify(header)).toString('base64url')
    const input = `${encoded}.${Buffer.from(payload).toString('base64url')}`
    return { protected: encoded, signature: await signByCommand(public_key, signing_command, input) }
  }
  const signing = new FlattenedSign(payload).setProtectedHeader({ ...header })
  const signed = await signing.sign(await importSigningKey(key, passphrase))
  return { protected: signed.protected ?? '', signature: signed.signature }
}

/**
 * The keys that signed, each counted once however often and under whatever names it is listed. One signature that does
 * not hold spoils the envelope; one by a key that is not pinned (a newer one, say) only does not count. Retired keys
 * verify. `not_after` is for the caller to hold against the time of the message: there is no trusted time here.
 */
export async function verifyJws(
  type: SignatureType,
  envelope: Jws,
  pinned: readonly PublicKey[],
): Promise<VerifiedPayload | VerificationFailure> {
  const read = jws.safeParse(envelope)
  if (!read.success || !isCanonicalBase64url(read.data.payload)) return 'bad_signature'
  const usable = pinned.filter((key) => allowedUses(type).includes(key.use) && readKeyMaterial(key) !== undefined)
  const signers = new Map<string, PublicKey>()
  let verdict: VerificationFailure = 'unknown_key'
  for (const signature of read.data.signatures) {
    const outcome = await verifySignature(headerType(type), { payload: read.data.payload, ...signature }, usable)
    if (outcome === 'bad_signature') return outcome
    if (outcome === 'key_revoked') verdict = outcome
    if (typeof outcome === 'object') signers.set(outcome.fingerprint, outcome)
  }
  if (signers.size === 0) return verdict
  return { payload: new Uint8Array(Buffer.from(read.data.payload, 'base64url')), keys: [...signers.values()] }
}

type JwsSignature = { readonly payload: string; readonly protected: string; readonly signature: string }

async function verifySignature(
  typ: string,
  signed: JwsSignature,
  usable: readonly PublicKey[],
): Promise<PublicKey | VerificationFailure> {
  const header = parseStrictHeader(signed.protected)
  if (header?.typ !== typ || !isCanonicalBase64url(signed.signature)) return 'bad_signature'
  const named = usable.filter((key) => key.kid === header.kid)
  if (named.length === 0) return 'unknown_key'
  const unrevoked = dropRevokedKeys(usable).filter((key) => named.includes(key))
  if (unrevoked.length === 0) return 'key_revoked'
  for (const key of unrevoked) {
    if (key.algorithm === header.alg && (await isSignatureValid(signed, key))) return key
  }
  return 'bad_signature'
}

async function isSignatureValid(signed: JwsSignature, record: PublicKey): Promise<boolean> {
  const key = await importVerifyingKey(record)
  if (!key) return false
  try {
    await flattenedVerify({ ...signed }, key, { algorithms: [record.algorithm] })
    return true
  } catch {
    return false
  }
}

function headerType(type: SignatureType): string {
  return `platform-${type}+jws`
}
