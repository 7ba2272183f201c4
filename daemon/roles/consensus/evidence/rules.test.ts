// The evidence block: the same state gives the same bytes, and no part of a block can be changed unnoticed.
import { expect, test } from 'vitest'
import { at, contributionOf, sentOf, sessionOf } from '../../../../test/support/session-records.ts'
import type { StoredSession } from '../session/model.ts'
import { emptyStanding, stand } from '../session/standing.ts'
import type { EvidenceBlock, EvidenceContent } from './model.ts'
import { blockIdOf, evidenceOf, isWhole, signedPart } from './rules.ts'

const ratified: StoredSession = sessionOf({
  state: 'RATIFIED',
  decision: 'match',
  result: { method: 'weighted_average', score: 0.9, conflict: 0, total_weight: 2 },
  contributions: 3,
  chain: 'c3',
  history: [
    { seq: 1, at: '2026-03-02T11:00:00.000Z', from: null, to: 'PROPOSED', trigger: 'create', by: 'ann' },
    { seq: 2, at, from: 'PROPOSED', to: 'RATIFIED', trigger: 'contribution', by: 'ann', decision: 'match' },
  ],
})

const superseded = contributionOf('a', 0.1, 1)
const first = contributionOf('a', 0.9, 2)
const federated = { ...sentOf('bravo', 1, 1, 0.9), ordinal: 3 }
const standing = emptyStanding('start')
for (const each of [superseded, first, federated]) stand(standing, each, 'chain')

function blockOf(content: EvidenceContent): EvidenceBlock {
  const block_id = blockIdOf(content)
  const payload = Buffer.from(signedPart(content.site, block_id)).toString('base64url')
  return { block_id, content, signature: { payload, signatures: [{ protected: 'p', signature: 's' }] }, keys: [] }
}

test('it holds what stood, in canonical order, with the parents of all, each once', () => {
  const content = evidenceOf('alpha', ratified, standing)
  expect(content.contributions.map(({ contributor_id, msg_id }) => [contributor_id, msg_id])).toEqual([
    ['a', undefined],
    ['tenant-bravo', 'msg_bravo_1_1'],
  ])
  expect(content.parent_block_ids).toEqual(['ab'.repeat(32)])
  expect(content).toMatchObject({ decision: 'match', decided_at: at, record: { contributions: 3, chain: 'c3' } })
})

test('the same state gives the same block, also after a cancel', () => {
  const id = blockIdOf(evidenceOf('alpha', ratified, standing))
  expect(blockIdOf(evidenceOf('alpha', structuredClone(ratified), standing))).toBe(id)
  expect(blockIdOf(evidenceOf('alpha', { ...ratified, state: 'WITHDRAWN' }, standing))).toBe(id)
  expect(blockIdOf(evidenceOf('bravo', ratified, standing))).not.toBe(id)
})

test('there is none for a session that never was ratified', () => {
  expect(() => evidenceOf('alpha', sessionOf(), standing)).toThrow('not ratified')
})

test('a block holds together; with any part changed it does not', () => {
  const content = evidenceOf('alpha', ratified, standing)
  const block = blockOf(content)
  expect(isWhole(block)).toBe(true)
  const [one, ...rest] = content.contributions
  const changes: EvidenceContent[] = [
    { ...content, decision: 'non_match' },
    { ...content, site: 'bravo' },
    { ...content, contributions: rest },
    { ...content, contributions: [...rest, ...(one ? [one] : [])] },
    { ...content, parent_block_ids: [] },
    { ...content, decided_at: '2026-03-02T12:00:00.001Z' },
  ]
  for (const changed of changes) expect(isWhole({ ...block, content: changed })).toBe(false)
  expect(isWhole({ ...block, block_id: '0'.repeat(64) })).toBe(false)
  expect(isWhole({ ...block, signature: blockOf({ ...content, site: 'bravo' }).signature })).toBe(false)
})
