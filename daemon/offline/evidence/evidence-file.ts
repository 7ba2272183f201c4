// Verifies an evidence block from its file alone: its integrity, its result, its signers, and who vouches for each contribution.

import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { selectCountingKeys } from '../../kernel/cryptography/counting-signers.ts'
import type { Jws, PublicKey, SignatureType, VerificationFailure } from '../../kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../kernel/encoding/canonical-json.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { formatFieldErrors, parseWithSchema } from '../../kernel/error/parsing.ts'
import { runToEnd } from '../../kernel/role/run-to-end.ts'
import {
  type Attribution,
  attributeContributions,
  type SignerDirectory,
  type SignerVerdict,
} from '../../roles/consensus/evidence/attribute-contributions.ts'
import { findEvidenceFaults, isChainComplete } from '../../roles/consensus/evidence/content-faults.ts'
import { type EvidenceBlock, evidenceBlock } from '../../roles/consensus/evidence/model.ts'
import { readSenderKeys } from '../filedrop/filedrop-files.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** Keys that the caller trusts. */
export type TrustedKeys = {
  /** The site or the contributor whose keys they are; undefined: the site that signed the block. */
  readonly name: string | undefined
  readonly keys: readonly PublicKey[]
}

export type EvidenceVerdict = {
  readonly block_id: string
  readonly version: EvidenceBlock['content']['v']
  /** `integrity_only`: without a fault, and signed by a key that nobody has confirmed: anybody can make such a block. */
  readonly verdict: 'valid' | 'integrity_only' | 'invalid'
  readonly valid: boolean
  /** Faults; empty unless invalid. */
  readonly faults: readonly string[]
  /** Keys with a valid signature. */
  readonly signed_by: readonly { readonly kid: string; readonly fingerprint: string }[]
  /** `given` keys are trusted by the caller; the block's `own` keys prove only its integrity, and name the signer. */
  readonly keys: 'given' | 'own'
  readonly contributions: readonly Attribution[]
  /** `checked`: the digests of the record, in its order, give its chain; `not_listed`: the block does not list them all. */
  readonly chain: 'checked' | 'not_listed'
  readonly site: string
  readonly session_id: string
  readonly decision: string
  readonly score: number | null
  readonly decided_at: string
}

/**
 * The keys of a file of --keys under the name that the caller gave; a key set names its site itself. Throws
 * `OfflineCommandError` (2) for the key set of a site of another name.
 */
export async function readTrustedKeys(name: string | undefined, text: string): Promise<TrustedKeys> {
  const { keys, key_set } = await readSenderKeys(text)
  if (key_set && name !== undefined && name !== key_set.site)
    throw new OfflineCommandError(2, `the key set given as that of ${name} is of ${key_set.site}`)
  return { name: key_set?.site ?? name, keys }
}

/** Without `trusted` keys of the site, those in the block. Throws `OfflineCommandError` (5) for a file that is not a block. */
export async function verifyEvidence(text: string, trusted: readonly TrustedKeys[]): Promise<EvidenceVerdict> {
  const block = parseEvidenceBlock(text)
  const { content, block_id } = block
  const { site, session_id, decision, result, decided_at, v: version } = content
  const given = trusted.filter(({ name }) => name === undefined || name === site).flatMap(({ keys }) => keys)
  const signed = await verifySignature('evidence', block.signature, given.length > 0 ? given : block.keys, decided_at)
  const { attributions, faults } = await attributeContributions(content, signerDirectory(trusted))
  const all = [
    ...runToEnd(findEvidenceFaults(block)),
    ...(signed.outcome === 'refused' ? [`the signature of ${site}: ${signed.detail}`] : []),
    ...faults,
  ]
  const verdict = all.length > 0 ? 'invalid' : given.length > 0 ? 'valid' : 'integrity_only'
  return {
    block_id,
    version,
    verdict,
    valid: verdict === 'valid',
    faults: all,
    signed_by: signed.outcome === 'signed' ? signed.keys.map(({ kid, fingerprint }) => ({ kid, fingerprint })) : [],
    keys: given.length > 0 ? 'given' : 'own',
    contributions: attributions,
    chain: isChainComplete(content) ? 'checked' : 'not_listed',
    site,
    session_id,
    decision,
    score: result.score,
    decided_at,
  }
}

/** Keys count under the name that the caller gave them: those of one site prove nothing about another. */
function signerDirectory(trusted: readonly TrustedKeys[]): SignerDirectory {
  const verifyBy = (name: string, type: SignatureType, envelope: Jws, created: string) => {
    const keys = trusted.filter((each) => each.name === name).flatMap((each) => each.keys)
    return keys.length === 0
      ? Promise.resolve({ outcome: 'unknown' } as const)
      : verifySignature(type, envelope, keys, created)
  }
  return {
    verifyMessage: ({ src, created }, envelope) => verifyBy(src, 'statement', envelope, created),
    verifyContributor: (name, envelope, created) => verifyBy(name, 'contribution', envelope, created),
    pause: async () => undefined,
  }
}

async function verifySignature(
  type: SignatureType,
  envelope: Jws,
  keys: readonly PublicKey[],
  created: string,
): Promise<Exclude<SignerVerdict, { outcome: 'unknown' }>> {
  const verified = await verifyJws(type, envelope, keys)
  if (typeof verified === 'string') return { outcome: 'refused', detail: signatureFaults[verified] }
  const keys_in_time = selectCountingKeys(verified.keys, created)
  return keys_in_time.length > 0
    ? { outcome: 'signed', keys: keys_in_time }
    : { outcome: 'refused', detail: 'the key that signed it had expired' }
}

const signatureFaults: Readonly<Record<VerificationFailure, string>> = {
  bad_signature: 'the signature is not valid',
  unknown_key: 'no trusted key has signed it',
  key_revoked: 'the key that signed it is revoked',
}

function parseEvidenceBlock(text: string): EvidenceBlock {
  const content = parseJson(text)
  if (content === undefined) throw new OfflineCommandError(5, 'the file is not JSON')
  const block = parseWithSchema(evidenceBlock, content)
  if (!block.success)
    throw new OfflineCommandError(5, `the file is not an evidence block: ${formatFieldErrors(block.errors)}`)
  // The id covers what the file states: a member that reading adds would change it.
  if (canonicalJson(block.data) !== canonicalJson(content))
    throw new OfflineCommandError(5, 'the file is not an evidence block: it leaves out members that a block states')
  return block.data
}
