// The checks of a block take many short steps, and the contributions that the policy does not allow take none.
import { expect, test } from 'vitest'
import {
  buildLocalContribution,
  buildPeerContribution,
  buildStoredSession,
  recorded_at,
} from '../../../../test/support/consensus/session-records.ts'
import { canonicalDigest, sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { runToEnd } from '../../../kernel/role/run-to-end.ts'
import { type QuorumPolicy, quorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { combine } from '../combine/combine.ts'
import type { Contribution } from '../session/contribution/model.ts'
import { contributionDigest } from '../session/contribution/recent-contribution.ts'
import { findEvidenceFaults } from './content-faults.ts'
import type { EvidenceBlock } from './model.ts'
import { buildEvidence, signedBytes } from './rules.ts'

type BlockOptions = { readonly more?: Partial<QuorumPolicy>; readonly listed?: readonly Contribution[] }

/** A block that holds in every way, apart from its signature. */
function buildBlock(count: number, n = count, { more = {}, listed }: BlockOptions = {}): EvidenceBlock {
  const named = Array.from({ length: count }, (_, at) =>
    buildLocalContribution(`c${String(at).padStart(5, '0')}`, 0.9, at + 1),
  )
  const contributors = (listed ?? named).map((each) => ({ ...each, digest: contributionDigest(each) }))
  const policy = quorumPolicy.parse({ m: 1, n, ...more })
  const ratified = buildStoredSession({
    ...{ policy, state: 'RATIFIED', decision: 'match', contributions: count },
    result: combine(policy.combination_method, contributors),
    history: [{ seq: 1, at: recorded_at, from: null, to: 'RATIFIED', trigger: 'contribution', by: 'ann' }],
  })
  const chain = contributors.reduce((before, { digest }) => sha256(before + digest), canonicalDigest(ratified.id))
  const content = buildEvidence('alpha', { ...ratified, chain }, contributors, { proofs: new Map(), superseded: [] })
  const block_id = canonicalDigest(content)
  const payload = Buffer.from(signedBytes(content, block_id)).toString('base64url')
  return { block_id, content, signature: { payload, signatures: [{ protected: 'p', signature: 's' }] }, keys: [] }
}

test('a block of a thousand contributions is checked in several steps for each', () => {
  const block = buildBlock(1_000)
  expect(runToEnd(findEvidenceFaults(block))).toEqual([])
  expect([...findEvidenceFaults(block)].length).toBeGreaterThan(4_000)
})

test('a contributor of the origin may have the name of a peer’s tenant, unless the policy names its contributors', () => {
  const namesake = { ...buildLocalContribution('tenant-b', 0.9, 1) }
  const peer = buildPeerContribution('b', 1, 1, 0.9)
  const contributions = [namesake, { ...peer, ordinal: 2 }]
  const fault = 'the contributors are not those of the policy, once each'
  const faultsOf = (more: Partial<QuorumPolicy>, listed = contributions) =>
    runToEnd(findEvidenceFaults(buildBlock(2, 2, { more, listed })))
  expect(faultsOf({})).not.toContain(fault)
  expect(faultsOf({ contributors: ['tenant-b', 'b'] })).toContain(fault)
  expect(faultsOf({}, [namesake, { ...namesake, ordinal: 2 }])).toContain(fault)
})

test('of a block with more contributions than its policy allows nothing else is read', () => {
  const block = buildBlock(50, 3)
  const fault = 'the contributors are not those of the policy, once each'
  expect(runToEnd(findEvidenceFaults({ ...block, block_id: '0'.repeat(64) }))).toEqual([fault])
  expect([...findEvidenceFaults(block)]).toEqual([])
})
