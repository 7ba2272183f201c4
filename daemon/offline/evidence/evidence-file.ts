// Verifies an evidence block from its file alone: its integrity, its result, its signers, and who vouches for each contribution.

import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { findSignerFault, type SignerFault, selectCountingKeys } from '../../kernel/cryptography/counting-signers.ts'
import type { Jws, PublicKey, SignatureType } from '../../kernel/cryptography/signatures.ts'
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
import { type EvidenceBlock, evidenceBlock, type LineageEntry } from '../../roles/consensus/evidence/model.ts'
import { readSenderKeys } from '../filedrop/filedrop-files.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** Keys that the caller trusts. */
export type TrustedKeys = {
  /** The site or the contributor whose keys they are; undefined: the site that signed the block. */
  readonly name: string | undefined
  readonly keys: readonly PublicKey[]
  /** Distinct keys that must sign; default 1. */
  readonly threshold?: number | undefined
  /** Keys of a site: they prove nothing about a contributor of its name. */
  readonly is_site?: true
  /** Keys of a person whom this site has enrolled: they count for contributors of its blocks, and never for a site. */
  readonly person_of?: string
}

/** `pinned`: those that the site of the caller has pinned or enrolled. */
export type KeySource = 'given' | 'pinned'

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
  /** `given` and `pinned` keys are trusted by the caller; the block's `own` keys prove only its integrity. */
  readonly keys: KeySource | 'own'
  readonly contributions: readonly Attribution[]
  /** `checked`: the digests of the record, in its order, give its chain; `not_listed`: the block does not list them all. */
  readonly chain: 'checked' | 'not_listed'
  /** The blocks that the session names itself, besides those that the messages name. */
  readonly lineage: readonly LineageEntry[]
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
  const { keys, key_set, threshold } = await readSenderKeys(text)
  if (key_set && name !== undefined && name !== key_set.site)
    throw new OfflineCommandError(2, `the key set given as that of ${name} is of ${key_set.site}`)
  return { name: key_set?.site ?? name, keys, threshold }
}

/** Without `trusted` keys of the site, those in the block. Throws `OfflineCommandError` (5) for a file that is not a block. */
export async function verifyEvidence(
  text: string,
  trusted: readonly TrustedKeys[],
  source: KeySource = 'given',
): Promise<EvidenceVerdict> {
  const block = parseEvidenceBlock(text)
  const { content, block_id } = block
  const { site, session_id, decision, result, decided_at, v: version } = content
  const signer = selectSigner(trusted, (each) => isKeyOfSite(each) && (each.name ?? site) === site)
  const isTrusted = signer.keys.length > 0
  const signed = await verifySignature('evidence', block.signature, isTrusted ? signer : block, decided_at)
  const { attributions, faults } = await attributeContributions(content, signerDirectory(site, trusted))
  const all = [
    ...runToEnd(findEvidenceFaults(block)),
    ...(signed.outcome === 'refused' ? [`the signature of ${site}: ${signed.detail}`] : []),
    ...faults,
  ]
  const verdict = all.length > 0 ? 'invalid' : isTrusted ? 'valid' : 'integrity_only'
  return {
    block_id,
    version,
    verdict,
    valid: verdict === 'valid',
    faults: all,
    signed_by: signed.outcome === 'signed' ? signed.keys.map(({ kid, fingerprint }) => ({ kid, fingerprint })) : [],
    keys: isTrusted ? source : 'own',
    contributions: attributions,
    chain: isChainComplete(content) ? 'checked' : 'not_listed',
    lineage: 'lineage' in content ? content.lineage : [],
    site,
    session_id,
    decision,
    score: result.score,
    decided_at,
  }
}

type Signer = Pick<TrustedKeys, 'keys' | 'threshold'>

/** The keys of all these entries, and the highest of their thresholds. */
function selectSigner(trusted: readonly TrustedKeys[], isOfSigner: (entry: TrustedKeys) => boolean): Signer {
  const entries = trusted.filter(isOfSigner)
  return {
    keys: entries.flatMap(({ keys }) => keys),
    threshold: Math.max(1, ...entries.map(({ threshold = 1 }) => threshold)),
  }
}

function isKeyOfSite({ person_of }: TrustedKeys): boolean {
  return person_of === undefined
}

/**
 * Keys count under the name that the caller gave them: those of one site prove nothing about another, and those of people
 * nothing about a site of their name. `site`: that of the block.
 */
function signerDirectory(site: string, trusted: readonly TrustedKeys[]): SignerDirectory {
  const people = trusted.filter(({ person_of }) => person_of === site)
  const verifyBy = async (
    signer: Signer,
    type: SignatureType,
    envelope: Jws,
    created: string,
  ): Promise<SignerVerdict> =>
    signer.keys.length === 0 ? { outcome: 'unknown' } : await verifySignature(type, envelope, signer, created)
  return {
    verifyMessage({ src, created }, envelope) {
      const signer = selectSigner(trusted, (each) => isKeyOfSite(each) && each.name === src)
      return verifyBy(signer, 'statement', envelope, created)
    },
    verifyContributor(name, envelope, created) {
      if (people.length > 0) return verifyByPerson(people, envelope, created)
      const signer = selectSigner(trusted, (each) => isKeyOfSite(each) && !each.is_site && each.name === name)
      return verifyBy(signer, 'contribution', envelope, created)
    },
    pause: async () => undefined,
  }
}

/** Another person may speak for a contributor, so the verdict names the one who signed. */
async function verifyByPerson(people: readonly TrustedKeys[], envelope: Jws, created: string): Promise<SignerVerdict> {
  const keys = people.flatMap((person) => person.keys)
  if ((await verifyJws('contribution', envelope, keys)) === 'unknown_key') return { outcome: 'unknown' }
  const verdict = await verifySignature('contribution', envelope, { keys }, created)
  if (verdict.outcome !== 'signed') return verdict
  const [first] = verdict.keys
  const by = people.find((person) => person.keys.some(({ fingerprint }) => fingerprint === first?.fingerprint))?.name
  return by === undefined ? verdict : { ...verdict, by }
}

async function verifySignature(
  type: SignatureType,
  envelope: Jws,
  { keys, threshold = 1 }: Signer,
  created: string,
): Promise<Exclude<SignerVerdict, { outcome: 'unknown' }>> {
  const verified = await verifyJws(type, envelope, keys)
  const fault = findSignerFault(verified, threshold, created)
  return fault || typeof verified === 'string'
    ? { outcome: 'refused', detail: signatureFaults[fault ?? 'bad_signature'] }
    : { outcome: 'signed', keys: selectCountingKeys(verified.keys, created) }
}

const signatureFaults: Readonly<Record<SignerFault, string>> = {
  bad_signature: 'the signature is not valid',
  unknown_key: 'no trusted key has signed it',
  key_revoked: 'the key that signed it is revoked',
  key_ended: 'the key that signed it had expired',
  too_few: 'fewer keys have signed it than the threshold of the signer requires',
}

/** Throws `OfflineCommandError` (5). */
export function parseEvidenceBlock(text: string): EvidenceBlock {
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
