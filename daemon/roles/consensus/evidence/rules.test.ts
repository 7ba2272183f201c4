// The evidence block: equal states give equal bytes, and every change of a part is detected.
import { expect, test } from 'vitest'
import {
  buildLocalContribution,
  buildPeerContribution,
  buildStoredSession,
  recorded_at,
} from '../../../../test/support/consensus/session-records.ts'
import { addToIndex, emptyContributionIndex } from '../session/contribution/contribution-index.ts'
import type { StoredSession } from '../session/model.ts'
import type { EvidenceBlock, EvidenceContent } from './model.ts'
import { blockIdOf, buildEvidence, isConsistent, signedBytes } from './rules.ts'

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

function blockOf(content: EvidenceContent): EvidenceBlock {
  const block_id = blockIdOf(content)
  const payload = Buffer.from(signedBytes(content.site, block_id)).toString('base64url')
  return { block_id, content, signature: { payload, signatures: [{ protected: 'p', signature: 's' }] }, keys: [] }
}

test('it holds the standing contributions in canonical order, and each parent once', () => {
  const content = buildEvidence('alpha', ratified, contributionIndex)
  expect(content.contributions.map(({ contributor_id, msg_id }) => [contributor_id, msg_id])).toEqual([
    ['a', undefined],
    ['tenant-bravo', 'msg_bravo_1_1'],
  ])
  expect(content.parent_block_ids).toEqual(['ab'.repeat(32)])
  expect(content).toMatchObject({
    decision: 'match',
    decided_at: recorded_at,
    record: { contributions: 3, chain: 'c3' },
  })
})

test('the same state gives the same block, also after a cancel', () => {
  const id = blockIdOf(buildEvidence('alpha', ratified, contributionIndex))
  expect(blockIdOf(buildEvidence('alpha', structuredClone(ratified), contributionIndex))).toBe(id)
  expect(blockIdOf(buildEvidence('alpha', { ...ratified, state: 'WITHDRAWN' }, contributionIndex))).toBe(id)
  expect(blockIdOf(buildEvidence('bravo', ratified, contributionIndex))).not.toBe(id)
})

test('a session that was never ratified has none', () => {
  expect(() => buildEvidence('alpha', buildStoredSession(), contributionIndex)).toThrow('not ratified')
})

test('a block is consistent, and with any part changed it is not', () => {
  const content = buildEvidence('alpha', ratified, contributionIndex)
  const block = blockOf(content)
  expect(isConsistent(block)).toBe(true)
  const [firstContribution, ...rest] = content.contributions
  const changes: EvidenceContent[] = [
    { ...content, decision: 'non_match' },
    { ...content, site: 'bravo' },
    { ...content, contributions: rest },
    { ...content, contributions: [...rest, ...(firstContribution ? [firstContribution] : [])] },
    { ...content, parent_block_ids: [] },
    { ...content, decided_at: '2026-03-02T12:00:00.001Z' },
  ]
  for (const changed of changes) expect(isConsistent({ ...block, content: changed })).toBe(false)
  expect(isConsistent({ ...block, block_id: '0'.repeat(64) })).toBe(false)
  expect(isConsistent({ ...block, signature: blockOf({ ...content, site: 'bravo' }).signature })).toBe(false)
})
