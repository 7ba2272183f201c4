// The budget of tokens is that of the subscriber's layer, and what it holds back is in the lineage with its reason.
import { expect, test } from 'vitest'
import { buildArtifact } from '../../../../../test/support/guide/artifacts.ts'
import { buildLineage } from '../lineage/rules.ts'
import { ArtifactIndex } from './artifact-index.ts'
import { attachableTypes, indexArtifact } from './rules.ts'

const caps = Object.fromEntries(attachableTypes.map((type) => [type, 2])) as never
const policy = { policy: 'SITE', levels: ['LOW'] }
const usable = { key: 'none', tools: new Set<string>(), services: new Set<string>() }
const viewer = { tenant_id: 'alpha', clearance: { level: 'LOW', categories: [] } }

test('artifacts beyond the tokens of a layer are capped there, and attached elsewhere', () => {
  const small = indexArtifact('small', buildArtifact('PromptShim', { content: { weight: 3 } }))
  const large = indexArtifact('large', buildArtifact('PromptShim', { content: { weight: 2, body: 'x'.repeat(2_000) } }))
  const third = indexArtifact('third', buildArtifact('PromptShim', { content: { weight: 1 } }))
  const index = new ArtifactIndex({ caps, max_bytes: 16_384, max_tokens: { l1: 500 }, policy })
  index.apply(
    [small, large, third].map((artifact) => ({ id: artifact.id, artifact })),
    1,
  )
  const find = (scope: string) => index.find({ scope, usable, viewer }, () => false)
  expect(find('l2')?.attached.map(({ id }) => id)).toEqual(['small', 'large'])
  const bounded = find('l1')
  if (!bounded) throw new Error('it was late')
  expect(bounded.attached.map(({ id }) => id)).toEqual(['small'])
  expect(bounded.block?.rationale_summary).toBe('PromptShim: 1 (small); +2 capped (large, third)')
  const of = { selection: bounded, scope: 'l1', trace_id: '1', subject: 'ann', at: 1 }
  const reasons = buildLineage(of, 1).map(({ value }) => `${value.artifact_id} ${value.kind} ${value.reason}`)
  expect(reasons).toEqual(['small attached undefined', 'large capped tokens', 'third capped type_cap'])
})
