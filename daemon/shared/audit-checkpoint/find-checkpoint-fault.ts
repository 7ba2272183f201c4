// Judges the signed head of an audit chain: whose chain it is, who signed it, and that the signature is over this head.
import { findSignerFault, type SignerFault } from '../../kernel/cryptography/counting-signers.ts'
import type { PublicKey, Signatures } from '../../kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../kernel/encoding/canonical-json.ts'
import type { CarriedCheckpoint } from '../../kernel/messaging/inventory.ts'

/** The site whose chain it should be, with the keys and the threshold that are pinned for it. */
export type CheckpointSigner = {
  readonly site: string
  readonly keys: readonly PublicKey[]
  readonly threshold: number
}

/** `key_revoked` and the like: of the signers. `other_site`: the chain is not this site's. `other_head`: another head was signed. */
export type CheckpointFault = SignerFault | 'other_site' | 'other_head'

/** Undefined for a head that enough of the site's message keys signed. */
export async function findCheckpointFault(
  { signature, ...head }: CarriedCheckpoint,
  { site, keys, threshold }: CheckpointSigner,
  signatures: Pick<Signatures, 'verify'>,
): Promise<CheckpointFault | undefined> {
  if (!head.writer.endsWith(`@${site}`)) return 'other_site'
  const messageKeys = keys.filter(({ use }) => use === 'message')
  const verified = await signatures.verify('checkpoint', signature, messageKeys)
  const signerFault = findSignerFault(verified, threshold, head.at)
  if (signerFault || typeof verified === 'string') return signerFault
  return Buffer.from(verified.payload).toString('utf8') === canonicalJson(head) ? undefined : 'other_head'
}
