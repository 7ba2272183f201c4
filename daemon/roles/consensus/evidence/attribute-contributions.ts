// Determines who vouches for each contribution of a block: its sender or contributor by their own signature, or the origin alone.
import type { Jws, PublicKey } from '../../../kernel/cryptography/signatures.ts'
import type { UnlabelledStatement } from '../../../kernel/messaging/statement-format.ts'
import { attachContribution } from '../session/contribution/proof/signed-contribution.ts'
import type { EvidenceContent, ProvenContribution } from './model.ts'
import { readQuotedMessage } from './quoted-message.ts'

export type Attribution = {
  readonly contributor_id: string
  /** `signer`: the signature of the proof was verified by a key that is trusted here. */
  readonly vouched_by: 'signer' | 'origin'
  /** Site or person in whose name the proof is signed. */
  readonly signer?: string
  readonly keys: readonly Pick<PublicKey, 'kid' | 'fingerprint'>[]
}

/** `unknown`: no key of the signer is trusted here. `by`: the person who signed, where that is known. */
export type SignerVerdict =
  | { readonly outcome: 'signed'; readonly keys: readonly PublicKey[]; readonly by?: string }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'refused'; readonly detail: string }

/** The trusted keys of other sites and of contributors. */
export type SignerDirectory = {
  /** Verifies the message of another site. */
  verifyMessage(statement: UnlabelledStatement, envelope: Jws): Promise<SignerVerdict>
  /** Verifies the signature of a contributor of the origin, made at `created`. */
  verifyContributor(contributor_id: string, envelope: Jws, created: string): Promise<SignerVerdict>
  /** Lets other work continue, after each contribution. */
  pause(): Promise<void>
}

/** `faults`: proofs whose signature does not hold by the keys that are trusted here. */
export async function attributeContributions(
  content: EvidenceContent,
  directory: SignerDirectory,
): Promise<{ readonly attributions: readonly Attribution[]; readonly faults: readonly string[] }> {
  const attributions: Attribution[] = []
  const faults: string[] = []
  for (const contribution of content.contributions) {
    const { contributor_id } = contribution
    const proof = 'proof' in contribution ? findProof(content.session_id, contribution, directory) : undefined
    const verdict = await proof?.verify()
    const isSigned = verdict?.outcome === 'signed'
    if (verdict?.outcome === 'refused') faults.push(`${contributor_id}: ${verdict.detail}`)
    if (isSigned && proof?.key_id !== undefined && !verdict.keys.some(({ kid }) => kid === proof.key_id))
      faults.push(`${contributor_id}: another key signed than the block names`)
    attributions.push({
      contributor_id,
      vouched_by: isSigned ? 'signer' : 'origin',
      ...(proof ? { signer: (isSigned ? verdict.by : undefined) ?? proof.signer } : {}),
      keys: isSigned ? verdict.keys.map(({ kid, fingerprint }) => ({ kid, fingerprint })) : [],
    })
    await directory.pause()
  }
  return { attributions, faults }
}

type SignedProof = {
  readonly signer: string
  /** Id of the key that the block names, where the contributor signed. */
  readonly key_id?: string
  readonly verify: () => Promise<SignerVerdict>
}

function findProof(
  session_id: string,
  contribution: ProvenContribution,
  directory: SignerDirectory,
): SignedProof | undefined {
  const { contributor_id, proof } = contribution
  if (proof?.type === 'signature') {
    const envelope = attachContribution(session_id, contribution, proof)
    return {
      signer: contributor_id,
      key_id: contribution.signer_key_id,
      verify: () => directory.verifyContributor(contributor_id, envelope, proof.created),
    }
  }
  const message = readQuotedMessage(contribution)
  if (!message || proof?.type !== 'message') return undefined
  const { statement } = message
  return { signer: statement.src, verify: () => directory.verifyMessage(statement, proof.envelope) }
}
