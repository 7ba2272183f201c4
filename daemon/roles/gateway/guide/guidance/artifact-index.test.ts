// The index of active artifacts: changes, sets that are kept, and the tools of callers.
import { expect, test } from 'vitest'
import { buildArtifact } from '../../../../../test/support/guide/artifacts.ts'
import type { AddressedOperation } from '../../../../kernel/operation/operation.ts'
import type { Artifact } from '../artifact/model.ts'
import { ArtifactIndex, type GuidanceReader } from './artifact-index.ts'
import { attachableTypes, indexArtifact } from './rules.ts'
import { keepService, ToolCatalogues } from './usable-tools.ts'

const policy = { policy: 'SITE', levels: ['LOW', 'HIGH'] }
const caps = Object.fromEntries(attachableTypes.map((type) => [type, 5])) as never
const open = () => {
  const index = new ArtifactIndex({ caps, max_bytes: 100_000, policy })
  index.isLoaded = true
  return index
}
const put = (id: string, more: Partial<Artifact> = {}) => ({
  id,
  artifact: indexArtifact(id, buildArtifact('PromptShim', more as object)),
})
const usable = { key: 'none', tools: new Set<string>(), services: new Set<string>() }
const reader = (level = 'HIGH', scope = 'l1'): GuidanceReader => ({
  ...{ scope, usable, viewer: { tenant_id: 'alpha', clearance: { level, categories: [] } } },
})
const idsOf = (index: ArtifactIndex, of = reader()) => index.find(of, () => false)?.attached.map(({ id }) => id)

test('changes replace, add and remove; a repeat adds nothing', () => {
  const index = open()
  index.apply([put('a'), put('b', { as_of: 2_000 }), put('a')], 1)
  expect([idsOf(index), index.size]).toEqual([['b', 'a'], 2])
  index.apply([put('a', { as_of: 3_000, version: 2 })], 2)
  expect(idsOf(index)).toEqual(['a', 'b'])
  expect(index.find(reader(), () => false)?.block?.artifacts[0]?.version).toBe(2)
  index.apply([{ id: 'a', artifact: undefined }], 3)
  expect([idsOf(index), index.size]).toEqual([['b'], 1])
})

test('a set is kept until a change of its tenant, and then those that were used are selected again', () => {
  const index = open()
  index.apply([put('a'), put('foreign', { tenant_id: 'bravo' })], 1)
  const first = index.find(reader(), () => false)
  expect(index.find(reader(), () => false)).toBe(first)
  expect(index.apply([put('other', { tenant_id: 'bravo' })], 2)).toEqual([])
  expect(index.find(reader(), () => false)).toBe(first)
  const readers = index.apply([put('b')], 3)
  expect(readers).toEqual([reader()])
  index.prepare(reader())
  const prepared = index.find(reader(), () => {
    throw new Error('it is selected already')
  })
  expect(prepared?.attached).toHaveLength(2)
})

test('each clearance has a set of its own', () => {
  const index = open()
  const label = { ...policy, level: 'HIGH', categories: [], originator: 'alpha' }
  index.apply([put('low'), put('high', { label, as_of: 2_000 })], 1)
  expect([idsOf(index, reader('HIGH')), idsOf(index, reader('LOW'))]).toEqual([['high', 'low'], ['low']])
})

test('of two that supersede one another both are hidden, and one that names itself is not', () => {
  const index = open()
  index.apply([put('a', { supersedes: ['b'] }), put('b', { supersedes: ['a'] }), put('c', { supersedes: ['c'] })], 1)
  expect(idsOf(index)).toEqual(['c'])
})

test('there is no set when its time is over, and none of a tenant without artifacts', () => {
  const index = open()
  index.apply([put('a')], 1)
  expect(index.find(reader(), () => true)).toBeUndefined()
  expect([index.takeLate(), index.takeLate()]).toEqual([[reader()], []])
  const other = { ...reader(), viewer: { tenant_id: 'charlie', clearance: undefined } }
  expect(index.find(other, () => false)).toMatchObject({ attached: [], block: null })
})

test('the tools of a caller are derived once for its permissions, until the catalogue changes', () => {
  const tool = (name: string, allow: string) =>
    ({ address: 'a', role: 'gateway', operation: { tool: name, allow } }) as unknown as AddressedOperation
  const catalogue = [tool('maps__echo', 'maps:read'), tool('tides__echo', 'tides:read')]
  const catalogues = new ToolCatalogues()
  const first = catalogues.findUsable(catalogue, new Set(['maps:read']))
  expect([[...first.tools], [...first.services]]).toEqual([['maps/echo'], ['maps']])
  expect(catalogues.findUsable(catalogue, new Set(['maps:read', 'other:read']))).toBe(first)
  const all = catalogues.findUsable(catalogue, new Set(['*']))
  expect([...all.tools]).toEqual(['maps/echo', 'tides/echo'])
  expect(catalogues.findUsable([...catalogue], new Set(['maps:read'])).key).not.toBe(first.key)
  const own = keepService(all, 'tides')
  expect([[...own.tools], [...own.services], own.key === all.key]).toEqual([['tides/echo'], ['tides'], false])
})

const exemplar = (id: string, intent_class: string | undefined, evaluator_score: number, success_rate = 0.9) => ({
  id,
  artifact: indexArtifact(
    id,
    buildArtifact('DecisionTrajectory', {
      applicability: { tags: ['workflow'], ...(intent_class && { intent_class }) },
      content: { steps: ['ingest_file', 'write'], success_rate, evaluator_score },
    }),
  ),
})

test('for the intent of a workflow, what is for it comes within the cap before what is for others, in the order of ranks', () => {
  const index = open()
  const others = ['b', 'c', 'd', 'e', 'f', 'g'].map((id, at) => exemplar(id, 'create_dag', 0.9 - at / 100))
  const mine = [exemplar('own', 'create_effect', 0.1), exemplar('poor', 'create_effect', 0.2, 0.3)]
  index.apply([...others, ...mine, exemplar('any', undefined, 0.05)], 1)
  const of = (intent?: string) => idsOf(index, { ...reader(), ...(intent && { intent }) })
  expect(of()).toEqual(['b', 'c', 'd', 'e', 'f'])
  expect(of('create_effect')).toEqual(['b', 'c', 'd', 'own', 'any'])
  expect(of('create_dag')).toEqual(['b', 'c', 'd', 'e', 'f'])
  const set = index.find({ ...reader(), intent: 'create_effect' }, () => false)
  expect(set?.cappedCounts.get('DecisionTrajectory')).toBe(4)
  // Nothing is held back without a cap that binds.
  index.apply(
    others.slice(2).map(({ id }) => ({ id, artifact: undefined })),
    2,
  )
  expect(of('create_effect')).toEqual(of())
})

test('intents that no artifact is about share one set, so that callers cannot make sets by inventing intents', () => {
  const index = open()
  index.apply([put('a')], 1)
  const find = (intent: string) => index.find({ ...reader(), intent }, () => false)
  expect(find('create_effect')).toBe(index.find(reader(), () => false))
  index.apply([exemplar('own', 'create_effect', 0.1)], 2)
  expect(find('create_effect_1')).toBe(find('create_effect_2'))
  expect(find('create_effect')).not.toBe(find('create_effect_1'))
  const own = { ...reader(), intent: 'create_effect' }
  expect(index.apply([exemplar('other', 'create_dag', 0.1)], 3)).toEqual([{ ...reader(), intent: '' }, own])
  index.prepare(own)
  expect(index.find(own, () => true)?.attached).toHaveLength(3)
})
