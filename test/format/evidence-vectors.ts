// Vectors of evidence blocks, of every version.

import type { QuorumPolicy } from '../../daemon/shared/quorum-policy/quorum-policy.ts'
import {
  buildSampleMessage,
  opinion,
  opinions,
  policy,
  sampleBlock,
  session_id,
  vectorLabel,
} from './sample-content.ts'
import { buildContent, type SampleBlock, type SampleContribution, signBlock } from './sample-evidence.ts'
import { type JsonMembers, signContent, signMessage } from './signed-documents.ts'
import { created, vectorKeys } from './vector-keys.ts'
import { type Vector, type VectorWriter, writeDocument } from './vector-writer.ts'

const { ed25519, bravo, ann, stranger } = vectorKeys

/** Contributions with proofs of both kinds, and one for which the origin alone vouches. */
async function provenContributions(): Promise<SampleContribution[]> {
  const [first, second, third] = opinions
  if (!first || !second || !third) throw new Error('three opinions')
  const signer_key_id = ann.public_key.kid
  const own = { ...first, signer_key_id }
  const { classification, contributor_id, pair_score, accuracy, credibility } = own
  const payload = {
    ...{ v: 1, type: 'platform.contribution', session_id, contributor_id, pair_score, accuracy, credibility },
    ...{ classification, created },
  }
  const { signatures } = await signContent('contribution', payload, [ann])
  const [signature] = signatures
  const data = { session_id, pair_score: third.pair_score, accuracy: third.accuracy, credibility: third.credibility }
  const from = { src: 'bravo', dst: 'alpha', channel: 'filedrop/bravo/alpha', sender_tenant_id: 'tenant-bravo' }
  const message = buildSampleMessage(
    'contribution',
    { ...data, classification: vectorLabel },
    {
      statement: { ...from, receiver_tenant_id: 'tenant-alpha' },
    },
  )
  const sent = await signMessage(message, [bravo])
  const { msg_id } = JSON.parse(Buffer.from(JSON.parse(sent.env).payload, 'base64url').toString())
  const proof = { type: 'message', envelope: JSON.parse(sent.env), body: sent.body }
  const federated = { ...third, contributor_id: 'tenant-bravo', signer_key_id: bravo.public_key.kid, msg_id, proof }
  return [{ ...own, proof: { type: 'signature', created, ...signature } }, second, federated]
}

/** The same statement under a key of the origin: what the origin could make without the sender. */
async function forgeEnvelope({ proof }: SampleContribution): Promise<unknown> {
  const { payload } = (proof as { envelope: { payload: string } }).envelope
  return await signContent('statement', Buffer.from(payload, 'base64url').toString(), [ed25519])
}

export async function writeEvidence(writer: VectorWriter): Promise<void> {
  const write = async (path: string, content: JsonMembers, vector: Partial<Vector> = {}, by = [ed25519]) =>
    writeDocument(writer, `${path}.evidence.json`, JSON.stringify(await signBlock(content, by)), vector)
  await write('evidence/weighted-average', buildContent(1, sampleBlock))
  const evidential: QuorumPolicy = { ...policy, combination_method: 'dempster_shafer' }
  await write('evidence/dempster-shafer', buildContent(1, { ...sampleBlock, policy: evidential }))
  const split = [opinion('ann', 0.1), opinion('ben', 0.9)]
  const attestation = { id: 'att-1', by: 'dana', decision: 'non_match', rationale: 'seen on site', at: created }
  await write('evidence/attested', buildContent(1, { ...sampleBlock, contributions: split, attestation }))
  await write(
    'bad/evidence-of-another-decision',
    { ...buildContent(1, sampleBlock), decision: 'non_match' },
    { reason: 'CONTENT' },
  )
  await write('bad/evidence-of-a-stranger', buildContent(1, sampleBlock), { reason: 'UNKNOWN_KEY' }, [stranger])
  const reversed = buildContent(1, { ...sampleBlock, contributions: opinions.toReversed() })
  await write('bad/evidence-in-another-order', reversed, { reason: 'CONTENT' })
  const proven = { ...sampleBlock, contributions: await provenContributions() }
  const everybody = { keys: 'keys/alpha.json,bravo=keys/bravo.json,ann=keys/ann.json' }
  await write('evidence/proven', buildContent(2, proven), everybody)
  await write('evidence/proven-by-the-origin-alone', buildContent(2, proven))
  const [, , federated] = proven.contributions
  if (!federated) throw new Error('three contributions')
  const misquoted = [...proven.contributions.slice(0, 2), { ...federated, pair_score: 0.98 }]
  await write('bad/evidence-with-a-misquotation', buildContent(2, { ...proven, contributions: misquoted }), {
    ...everybody,
    reason: 'CONTENT',
  })
  const invented = { ...federated, proof: { ...federated.proof, envelope: await forgeEnvelope(federated) } }
  await write(
    'bad/evidence-with-a-forged-message',
    buildContent(2, { ...proven, contributions: [...proven.contributions.slice(0, 2), invented] }),
    { ...everybody, reason: 'UNKNOWN_KEY' },
  )
  const few = { ...policy, n: 2 }
  const [signed, unsigned] = proven.contributions
  if (!signed || !unsigned) throw new Error('three contributions')
  const namesake = { ...unsigned, contributor_id: federated.contributor_id }
  const namesakes = [signed, namesake, federated]
  await write('evidence/namesakes', buildContent(2, { ...proven, contributions: namesakes }), everybody)
  const named = { ...policy, contributors: [signed.contributor_id, namesake.contributor_id, 'cleo'] }
  await write(
    'bad/evidence-of-namesakes-where-the-policy-names-one',
    buildContent(2, { ...proven, policy: named, contributions: namesakes }),
    { ...everybody, reason: 'CONTENT' },
  )
  await writeLineage(write, proven, { ...sampleBlock, contributions: split, attestation })
  await write('bad/evidence-of-too-many', buildContent(1, { ...sampleBlock, policy: few }), { reason: 'CONTENT' })
}

type WriteBlock = (path: string, content: JsonMembers, vector?: Partial<Vector>) => Promise<void>

/** Blocks of version 3, of a decision by contributions and of one by a person. */
async function writeLineage(write: WriteBlock, decided: SampleBlock, attested: SampleBlock): Promise<void> {
  const superseding = { relation: 'supersedes', block_id: '2b'.repeat(32) } as const
  const basis = ['1a', '3c'].map((byte) => ({ relation: 'rests_on', block_id: byte.repeat(32) }) as const)
  const [first, last] = basis
  if (!first || !last) throw new Error('two blocks')
  await write('evidence/superseding', buildContent(3, { ...decided, lineage: [superseding] }))
  const lineage = [first, superseding, last]
  const content = buildContent(3, { ...attested, lineage })
  await write('evidence/attested-on-a-basis', content)
  const bad: Readonly<Record<string, JsonMembers>> = {
    unsorted: { ...content, lineage: [superseding, first, last] },
    'with-a-block-twice': { ...content, lineage: [first, { ...first, relation: 'supersedes' }, last] },
    'of-two-superseded': { ...content, lineage: [{ ...first, relation: 'supersedes' }, superseding, last] },
    'without-an-attestation': buildContent(3, { ...decided, lineage: [first] }),
    'beside-other-parents': { ...content, parent_block_ids: lineage.slice(1).map(({ block_id }) => block_id) },
    'with-a-parent-too-many': {
      ...content,
      parent_block_ids: [...lineage.map(({ block_id }) => block_id), '4d'.repeat(32)],
    },
  }
  for (const [name, altered] of Object.entries(bad))
    await write(`bad/evidence-with-a-lineage-${name}`, altered, { reason: 'CONTENT' })
  await write(
    'bad/evidence-with-an-empty-lineage',
    { ...content, lineage: [], parent_block_ids: [] },
    { reason: 'SCHEMA' },
  )
  await write('bad/evidence-of-version-2-with-a-lineage', { ...content, v: 2 }, { reason: 'UNKNOWN_FIELD' })
}
