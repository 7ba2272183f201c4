// The index of active artifacts: changes, sets that are kept, and the cost of an attachment.
import { describe, expect, test } from 'vitest'
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
  const other = { ...reader(), viewer: { tenant_id: 'charlie', clearance: undefined } }
  expect(index.find(other, () => false)).toMatchObject({ attached: [], block: null })
})

describe('with 10,000 active artifacts', () => {
  const index = open()
  const types = ['PromptShim', 'FailurePattern', 'ToolPairingHint', 'SpecFragment', 'ServiceConnectionHint'] as const
  const all = Array.from({ length: 10_000 }, (_, at) => {
    const content = { weight: at % 97, confidence: (at % 13) / 13 }
    const type = types[at % types.length] ?? 'PromptShim'
    return { id: `artifact-${at}`, artifact: indexArtifact(`artifact-${at}`, buildArtifact(type, { content })) }
  })
  index.apply(all, 1)

  test('an attachment takes less than a millisecond at the 99th percentile, while artifacts change', () => {
    const times: number[] = []
    for (let at = 0; at < 5_000; at += 1) {
      if (at % 100 === 0) for (const each of index.apply([put(`artifact-${at}`)], at)) index.prepare(each)
      const begun = performance.now()
      index.find(reader(at % 2 === 0 ? 'HIGH' : 'LOW'), () => false)
      times.push(performance.now() - begun)
    }
    times.sort((one, other) => one - other)
    expect(times[Math.floor(times.length * 0.99)]).toBeLessThan(1)
  })
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
