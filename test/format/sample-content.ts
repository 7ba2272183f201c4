// Contents of the vectors, by the schemas of the product.

import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { canonicalJson, sha384 } from '../../daemon/kernel/encoding/canonical-json.ts'
import { decide } from '../../daemon/roles/consensus/combine/decide.ts'
import type { QuorumPolicy } from '../../daemon/shared/quorum-policy/quorum-policy.ts'
import { buildDissent } from '../support/consensus/build-dissent.ts'
import type { SampleBlock, SampleContribution } from './sample-evidence.ts'
import { type JsonMembers, type MessageDraft, signContent } from './signed-documents.ts'
import { created, vectorKeys } from './vector-keys.ts'

const { ed25519, es384, mldsa87, root, next_root } = vectorKeys

export const not_after = '2026-03-08T12:00:00.000Z'

export const zeros = '0'.repeat(96)

export const vectorLabel = {
  ...{ categories: [], level: 'RESTRICTED', originator: 'tenant-alpha', policy: 'SITE' },
  releasable_to: ['tenant-bravo'],
}

export const policy: QuorumPolicy = {
  ...{ m: 2, n: 3, combination_method: 'weighted_average', ratify_threshold: 0.8, conflict_threshold: 0.5 },
}

export const session_id = `ses_${'1'.repeat(32)}`

export const subject = { kind: 'entity_match', left: 'a-1', right: 'b-7', correlation_id: 'match-1' }

export const opinion = (contributor_id: string, pair_score: number, more: Partial<SampleContribution> = {}) => ({
  ...{ contributor_id, pair_score, accuracy: 0.9, credibility: 1, signer_key_id: `${contributor_id}-key` },
  ...{ classification: vectorLabel, ...more },
})

/** In canonical order. */
export const opinions = [opinion('ann', 0.85), opinion('ben', 0.9, { accuracy: 0.7 }), opinion('cleo', 0.97)]

export const sampleBlock: SampleBlock = {
  session_id,
  policy,
  label: vectorLabel,
  contributions: opinions,
  at: created,
  subject,
}

const schemas: Readonly<Record<string, string>> = {
  ...{ signal: 'signal/1', dataset: 'ingest.dataset/1', resolution: 'resolution.exchange/1', keys: 'platform.keys/1' },
  ...{ inventory: 'platform.inventory/1', gap_receipt: 'platform.acknowledgement/1' },
}

export function buildSampleMessage(kind: string, data: JsonMembers, more: Partial<MessageDraft> = {}): MessageDraft {
  const schema = schemas[kind] ?? `consensus.${kind}/1`
  return { ...{ kind, schema, data, label: vectorLabel, epoch: 1, seq: 1, created, not_after }, ...more }
}

/** One of two parts, with each type of value. */
export function sampleDataset(): JsonMembers {
  return {
    ...{
      set_id: '3'.repeat(32),
      name: 'orders',
      number: 1,
      parts: 2,
      total_rows: 3,
      sha256: sha384('rows').slice(0, 64),
    },
    columns: [
      { name: 'id', type: 'int64' },
      { name: 'at', type: 'timestamp', unit: 'ms' },
    ],
    rows: [
      ['9007199254740993', '2026-03-02T12:00:00.5Z'],
      ['2', null],
    ],
  }
}

export function sampleSignal(): JsonMembers {
  const about = { type: 'entity', id: 'e-1', name: 'Example' }
  return {
    ...{ event_id: 'event-1', signal_type: 'conflict', severity: 'high', title: 'Two sources differ', subject: about },
    ...{ source: { type: 'computed', name: 'alpha' }, detected_at: created },
  }
}

export function sampleDissent(): JsonMembers {
  const split = [opinion('ann', 0), opinion('ben', 1)]
  const decided = decide(policy, split)
  if (decided.state !== 'IN_CONFLICT') throw new Error('two contributors at the extremes are in conflict')
  const body = buildDissent(policy, split, decided)
  return { id: `dis_${'3'.repeat(32)}`, session_id, lens_id: 'lens', created_at: created, status: 'open', body }
}

export async function sampleCheckpoint(
  writer: string,
  seq: number,
  by: readonly StoredKey[] = [ed25519],
): Promise<JsonMembers> {
  const head = { writer, seq, hash: sha384(`${writer} ${seq}`).slice(0, 64), at: created }
  return { ...head, signature: await signContent('checkpoint', head, by) }
}

export const sampleReceipt = {
  ...{ v: 1, type: 'platform.gap_receipt', channel: 'filedrop/bravo/alpha', src: 'alpha', dst: 'bravo', epoch: 1 },
  ...{
    highest: 9,
    floor: 3,
    missing: [
      { first: 4, last: 5 },
      { first: 8, last: 8 },
    ],
    created,
    not_after,
  },
}

/** The body is 8,192 bytes, by its padding. */
export async function sampleAcknowledgement(by: readonly StoredKey[], receipt: JsonMembers = sampleReceipt) {
  const signed = await signContent('gap-receipt', receipt, by)
  const bytes = (padding: string) =>
    Buffer.byteLength(
      canonicalJson({ data: { receipt: signed, padding }, label: vectorLabel, schema: schemas.gap_receipt }),
    )
  return { receipt: signed, padding: ' '.repeat(8_192 - bytes('')) }
}

/** The next key set, in which the root key is replaced. */
export function keySet(version: number, previous: string, more: JsonMembers = {}): JsonMembers {
  const keys = [ed25519, es384, mldsa87, version === 1 ? root : next_root].map(({ public_key }) => public_key)
  return {
    ...{ v: 1, type: 'platform.keyset', site: 'alpha', tenant_id: 'tenant-alpha', version, previous },
    ...{ created, thresholds: { message: 1, root: 1 }, keys, ...more },
  }
}
