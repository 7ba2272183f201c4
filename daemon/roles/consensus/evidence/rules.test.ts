// The evidence block: equal states give equal bytes, and every change of a part is detected.
import { expect, test } from 'vitest'
import {
  buildLocalContribution,
  buildPeerContribution,
  buildStoredSession,
  recorded_at,
} from '../../../../test/support/consensus/session-records.ts'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { runToEnd } from '../../../kernel/role/run-to-end.ts'
import { addToIndex, emptyContributionIndex } from '../session/contribution/contribution-index.ts'
import type { StoredSession } from '../session/model.ts'
import type { EvidenceBlock, EvidenceContent } from './model.ts'
import { buildEvidence, buildEvidence1, isConsistent, listStanding, signedBytes } from './rules.ts'

const ratified: StoredSession = buildStoredSession({
  state: 'RATIFIED',
  decision: 'match',
  result: { method: 'weighted_average', score: 0.9, conflict: 0, total_weight: 2 },
  contributions: 3,
  chain: 'c3',
  history: [
    { seq: 1, at: '2026-03-02T11:00:00.000Z', from: null, to: 'PROPOSED', trigger: 'create', by: 'ann' },
    {
      seq: 2,
      at: recorded_at,
      from: 'PROPOSED',
      to: 'RATIFIED',
      trigger: 'contribution',
      by: 'ann',
      decision: 'match',
    },
  ],
})

const superseded = buildLocalContribution('a', 0.1, 1)
const first = buildLocalContribution('a', 0.9, 2)
const federated = { ...buildPeerContribution('bravo', 1, 1, 0.9), ordinal: 3 }
const contributionIndex = emptyContributionIndex('start')
for (const each of [superseded, first, federated]) addToIndex(contributionIndex, each, 'chain')
const standing = listStanding(contributionIndex, { contributors: 2 })
const proofs = { proofs: new Map(), superseded: [{ ordinal: 1, digest: superseded.digest }] }

const isConsistentBlock = (block: EvidenceBlock) => runToEnd(isConsistent(block))

function blockOf(content: EvidenceContent): EvidenceBlock {
  const block_id = canonicalDigest(content)
  const payload = Buffer.from(signedBytes(content, block_id)).toString('base64url')
  return { block_id, content, signature: { payload, signatures: [{ protected: 'p', signature: 's' }] }, keys: [] }
}

test('it holds the standing contributions in canonical order, and each parent once', () => {
  const content = buildEvidence('alpha', ratified, standing, proofs)
  expect(content.contributions.map(({ contributor_id, msg_id }) => [contributor_id, msg_id])).toEqual([
    ['a', undefined],
    ['tenant-bravo', 'msg_bravo_1_1'],
  ])
  expect(content.parent_block_ids).toEqual(['ab'.repeat(32)])
  expect(content).toMatchObject({
    decision: 'match',
    decided_at: recorded_at,
    record: { contributions: 3, chain: 'c3', superseded: [{ ordinal: 1, digest: superseded.digest }] },
    contributions: [{ ordinal: 2 }, { ordinal: 3 }],
  })
})

test('a block of version 1 holds neither proofs nor the order of arrival', () => {
  const content = buildEvidence1('alpha', ratified, standing)
  expect([content.v, content.record]).toEqual([1, { contributions: 3, chain: 'c3' }])
  expect(content.contributions.some((each) => 'proof' in each || 'ordinal' in each)).toBe(false)
})

test('the same state gives the same block, also after a cancel', () => {
  const id = canonicalDigest(buildEvidence('alpha', ratified, standing, proofs))
  expect(canonicalDigest(buildEvidence('alpha', structuredClone(ratified), standing, proofs))).toBe(id)
  expect(canonicalDigest(buildEvidence('alpha', { ...ratified, state: 'WITHDRAWN' }, standing, proofs))).toBe(id)
  expect(canonicalDigest(buildEvidence('bravo', ratified, standing, proofs))).not.toBe(id)
})

test('a session that an earlier version decided, with one vote for each name, keeps the vote that it counted', () => {
  const index = emptyContributionIndex('start')
  const local = { ...buildLocalContribution('tenant-bravo', 0.1, 4) }
  for (const each of [first, federated, local]) addToIndex(index, each, 'chain')
  const scores = (contributors: number) => listStanding(index, { contributors }).map(({ pair_score }) => pair_score)
  expect(scores(3)).toEqual([0.1, 0.9, 0.9])
  expect(scores(2)).toEqual([0.1, 0.9])
})

test('a session that was never ratified has none', () => {
  expect(() => buildEvidence('alpha', buildStoredSession(), standing, proofs)).toThrow('not ratified')
})

test('a block is consistent, and with any part changed it is not', () => {
  const content = buildEvidence('alpha', ratified, standing, proofs)
  const block = blockOf(content)
  expect(isConsistentBlock(block)).toBe(true)
  const [firstContribution, ...rest] = content.contributions
  const changes: EvidenceContent[] = [
    { ...content, decision: 'non_match' },
    { ...content, site: 'bravo' },
    { ...content, contributions: rest },
    { ...content, contributions: [...rest, ...(firstContribution ? [firstContribution] : [])] },
    { ...content, parent_block_ids: [] },
    { ...content, decided_at: '2026-03-02T12:00:00.001Z' },
  ]
  for (const changed of changes) expect(isConsistentBlock({ ...block, content: changed })).toBe(false)
  expect(isConsistentBlock({ ...block, block_id: '0'.repeat(64) })).toBe(false)
  expect(isConsistentBlock({ ...block, signature: blockOf({ ...content, site: 'bravo' }).signature })).toBe(false)
})
