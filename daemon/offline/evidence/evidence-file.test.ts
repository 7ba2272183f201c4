// An evidence block must follow from eligible contributors, each counted once, with any signer.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { generateKey, listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { canonicalDigest } from '../../kernel/encoding/canonical-json.ts'
import { combine } from '../../roles/consensus/combine/combine.ts'
import type { EvidenceBlock, EvidenceContent1 } from '../../roles/consensus/evidence/model.ts'
import { signedBytes } from '../../roles/consensus/evidence/rules.ts'
import { contributionDigest } from '../../roles/consensus/session/contribution/recent-contribution.ts'
import { type TrustedKeys, verifyEvidence } from './evidence-file.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const dir = mkdtempSync(join(tmpdir(), 'evidence-'))
await generateKey(dir, { use: 'message', now })
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const policy = {
  m: 2,
  n: 2,
  combination_method: 'weighted_average' as const,
  ratify_threshold: 0.8,
  conflict_threshold: 0.5,
}

async function buildBlock(names: readonly string[], more: Partial<EvidenceContent1> = {}): Promise<EvidenceBlock> {
  const label = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'tenant-a' }
  const contributions = names.map((contributor_id) => {
    const signer_key_id = `${contributor_id}-1`
    const contribution = {
      contributor_id,
      pair_score: 0.9,
      accuracy: 1,
      credibility: 1,
      signer_key_id,
      classification: label,
    }
    return { ...contribution, digest: contributionDigest(contribution) }
  })
  const content: EvidenceContent1 = {
    v: 1,
    type: 'platform.evidence',
    site: 'alpha',
    tenant_id: 'tenant-a',
    session_id: 'ses_1',
    lens_id: 'lens',
    lens_version: '1',
    policy,
    label,
    contributions,
    record: { contributions: names.length, chain: 'c' },
    result: combine(policy.combination_method, contributions),
    decision: 'match',
    parent_block_ids: [],
    decided_at: new Date(now).toISOString(),
    ...more,
  }
  const block_id = canonicalDigest(content)
  const signature = await joseSignatures({ dir, now: () => now }).sign('evidence', signedBytes(content, block_id))
  return { block_id, content, signature, keys: listKeys(dir) }
}

async function faultsOf(names: readonly string[], more: Partial<EvidenceContent1> = {}): Promise<readonly string[]> {
  return (await verifyEvidence(JSON.stringify(await buildBlock(names, more)), [])).faults
}

const contributors = [expect.stringContaining('the contributors are not those')]

test('two contributors whom the policy lets in prove the decision', async () => {
  expect(await faultsOf(['a', 'b'])).toEqual([])
  expect(await faultsOf(['a', 'b'], { policy: { ...policy, contributors: ['a', 'b'] } })).toEqual([])
})

test('one contributor counted twice, one too many, one not named, and more than the record holds are faults', async () => {
  expect(await faultsOf(['a', 'b', 'b'], { policy: { ...policy, n: 3 } })).toEqual(contributors)
  expect(await faultsOf(['a', 'b', 'c'])).toEqual(contributors)
  expect(await faultsOf(['a', 'c'], { policy: { ...policy, contributors: ['a', 'b'] } })).toEqual(contributors)
  expect(await faultsOf(['a', 'b'], { record: { contributions: 1, chain: 'c' } })).toEqual(contributors)
})

test('a digest that is not that of its contribution is a fault', async () => {
  const contribution = { contributor_id: 'a', pair_score: 0.9, accuracy: 1, credibility: 1, signer_key_id: 'a-1' }
  const classification = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'tenant-a' }
  const forged = ['a', 'b'].map((contributor_id) => ({
    ...contribution,
    contributor_id,
    classification,
    digest: '0'.repeat(64),
  }))
  expect(await faultsOf(['a', 'b'], { contributions: forged })).toEqual(['a digest does not match its contribution'])
})

test.each<[verdict: string, trusted: string, readonly TrustedKeys[]]>([
  ['integrity_only', 'no key', []],
  ['integrity_only', 'a key of another site', [{ name: 'bravo', keys: listKeys(dir) }]],
  ['valid', 'a key of the site', [{ name: 'alpha', keys: listKeys(dir) }]],
  ['valid', 'a key without a name', [{ name: undefined, keys: listKeys(dir) }]],
  ['valid', 'a retired key', [{ name: undefined, keys: alterKeys({ status: 'retired' }) }]],
  ['valid', 'a key that ended later', [{ name: undefined, keys: alterKeys({ not_after: '2026-01-01T00:00:00Z' }) }]],
  ['invalid', 'a key that had ended', [{ name: undefined, keys: alterKeys({ not_after: '2025-12-31T23:59:59Z' }) }]],
  [
    'integrity_only',
    'the key of a person with the name of the site',
    [{ name: 'alpha', keys: listKeys(dir), person_of: 'alpha' }],
  ],
  ['valid', 'as many keys as the threshold', [{ name: 'alpha', keys: listKeys(dir), threshold: 1 }]],
  ['invalid', 'fewer keys than the threshold', [{ name: 'alpha', keys: listKeys(dir), threshold: 2 }]],
  ['invalid', 'a revoked key', [{ name: undefined, keys: alterKeys({ status: 'revoked' }) }]],
])('the verdict is %s by %s', async (verdict, _, trusted) => {
  const found = await verifyEvidence(JSON.stringify(await buildBlock(['a', 'b'])), trusted)
  expect([found.verdict, found.valid]).toEqual([verdict, verdict === 'valid'])
  expect(found.contributions).toMatchObject([{ vouched_by: 'origin' }, { vouched_by: 'origin' }])
})

function alterKeys(change: Partial<PublicKey>): PublicKey[] {
  return listKeys(dir).map((key) => ({ ...key, ...change }))
}

test('a file that leaves out what a reader would add is not a block', async () => {
  const block = await buildBlock(['a', 'b'])
  const text = JSON.stringify(block).replace('"combination_method":"weighted_average",', '')
  await expect(verifyEvidence(text, [])).rejects.toThrow('is not an evidence block')
})
