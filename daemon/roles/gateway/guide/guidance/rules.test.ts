// Selection of guidance: order, caps, rights, and the summary byte by byte.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildArtifact } from '../../../../../test/support/guide/artifacts.ts'
import type { ArtifactType } from '../artifact/content.ts'
import type { Artifact } from '../artifact/model.ts'
import {
  attachableTypes,
  compareArtifacts,
  type IndexedArtifact,
  indexArtifact,
  isAddressedTo,
  isUsable,
  type Selection,
  selectGuidance,
  summariseSelection,
} from './rules.ts'

const caps = Object.fromEntries(attachableTypes.map((type) => [type, 10])) as Record<
  (typeof attachableTypes)[number],
  number
>
const terms = { caps, max_bytes: 1_000_000, mayHave: () => true }
const shim = (id: string, content: object = {}, more: Partial<Artifact> = {}) =>
  indexArtifact(id, buildArtifact('PromptShim', { ...more, content: { ...content } }))
const sorted = (all: readonly IndexedArtifact[]): ReadonlyMap<ArtifactType, readonly IndexedArtifact[]> =>
  Map.groupBy(all.toSorted(compareArtifacts), ({ type }) => type)
const select = (all: readonly IndexedArtifact[], more: Partial<typeof terms> = {}): Selection =>
  selectGuidance(sorted(all), { ...terms, ...more }) as Selection
const idsOf = (artifacts: readonly IndexedArtifact[]) => artifacts.map(({ id }) => id)

describe('the order, key by key, the highest first', () => {
  test.each<[string, IndexedArtifact, IndexedArtifact]>([
    [
      'evaluator_score decides before confidence',
      shim('a', { evaluator_score: 0.9 }),
      shim('b', { evaluator_score: 0.8, confidence: 1 }),
    ],
    ['evaluator_score is 1 by default', shim('a'), shim('b', { evaluator_score: 0.99 })],
    [
      'confidence decides before specificity',
      shim('a', { confidence: 0.1 }),
      shim('b', {}, { applicability: { intent_class: 'map', tags: ['x'] } }),
    ],
    [
      'two narrowing fields are above one',
      shim('a', {}, { applicability: { intent_class: 'map', tags: ['x'] } }),
      shim('b', {}, { applicability: { tags: ['x', 'y'] } }),
    ],
    ['specificity decides before weight', shim('a', {}, { applicability: { tags: ['x'] } }), shim('b', { weight: 9 })],
    ['weight is 1 by default', shim('a'), shim('b', { weight: 0.5 })],
    ['weight decides before as_of', shim('a', { weight: 2 }), shim('b', {}, { as_of: 9_000 })],
    ['the newest is first at last', shim('a', {}, { as_of: 2_000 }), shim('b')],
    ['equal ones by id', shim('a'), shim('b')],
  ])('%s', (_, first, second) => {
    expect(idsOf([second, first].sort(compareArtifacts))).toEqual(['a', 'b'])
  })
})

test('the order of arrival changes nothing', () => {
  const some = fc.array(
    fc.record({
      evaluator_score: fc.constantFrom(undefined, 0, 0.5, 1),
      confidence: fc.constantFrom(undefined, 0, 0.5),
      weight: fc.constantFrom(undefined, 1, 2),
    }),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(some, fc.infiniteStream(fc.nat()), (contents, order) => {
      const all = contents.map((content, at) => shim(`id-${at}`, JSON.parse(JSON.stringify(content))))
      const shuffled = all.map((each) => ({ each, at: order.next().value })).sort((a, b) => a.at - b.at)
      expect(idsOf(select(shuffled.map(({ each }) => each)).attached)).toEqual(idsOf(select(all).attached))
    }),
  )
})

describe('caps', () => {
  const twelve = Array.from({ length: 12 }, (_, at) => shim(`s-${String(at).padStart(2, '0')}`, { weight: 12 - at }))

  test('keep the best of each type, and hold the others back', () => {
    const selection = select([...twelve, indexArtifact('f', buildArtifact('FailurePattern'))])
    expect(idsOf(selection.attached)).toEqual(['f', ...idsOf(twelve.slice(0, 10))])
    expect(idsOf(selection.capped)).toEqual(['s-10', 's-11'])
    expect([...selection.cappedCounts]).toEqual([['PromptShim', 2]])
  })

  test('come after what the subscriber may not have', () => {
    const selection = select(twelve, { mayHave: ({ id }: IndexedArtifact) => id !== 's-00' } as never)
    expect(idsOf(selection.attached)).toEqual(idsOf(twelve.slice(1, 11)))
    expect(idsOf(selection.capped)).toEqual(['s-11'])
  })

  test('of 0 attach nothing', () => {
    const selection = select(twelve, { caps: { ...caps, PromptShim: 0 } })
    expect([selection.attached, [...selection.cappedCounts]]).toEqual([[], [['PromptShim', 12]]])
    expect(summariseSelection(selection)).toBe('+12 capped (s-00, s-01, s-02, s-03, s-04, +7)')
  })

  test('of bytes keep the best that fit together', () => {
    const large = shim('large', { body: 'x'.repeat(5_000), weight: 5 })
    const [small, smaller] = [shim('small', { weight: 9 }), shim('smaller', { weight: 1 })]
    const selection = select([large, small, smaller], { max_bytes: small.bytes + smaller.bytes })
    expect(idsOf(selection.attached)).toEqual(['small', 'smaller'])
    expect(idsOf(selection.capped)).toEqual(['large'])
  })
})

test('a selection ends when its time is over', () => {
  let looks = 0
  const isLate = () => ++looks > 3
  const many = Array.from({ length: 1_000 }, (_, at) => shim(`s-${at}`))
  expect(selectGuidance(sorted(many), { ...terms, isLate })).toBeUndefined()
  expect(looks).toBe(4)
})

describe('the summary', () => {
  const of = (type: ArtifactType, ...ids: string[]) => ids.map((id) => indexArtifact(id, buildArtifact(type)))

  test('of nothing is empty', () => {
    expect(summariseSelection(select([]))).toBe('')
  })

  test('has types in alphabetical order, with their counts and ids', () => {
    const all = [...of('ToolPairingHint', 't1'), ...of('FailurePattern', 'f1', 'f2'), ...of('PromptShim', 'p1')]
    expect(summariseSelection(select(all))).toBe(
      'FailurePattern: 2 (f1, f2); PromptShim: 1 (p1); ToolPairingHint: 1 (t1)',
    )
  })

  test('names five ids of a type, and counts the others', () => {
    expect(summariseSelection(select(of('PromptShim', 'a', 'b', 'c', 'd', 'e')))).toBe('PromptShim: 5 (a, b, c, d, e)')
    expect(summariseSelection(select(of('PromptShim', 'a', 'b', 'c', 'd', 'e', 'f', 'g')))).toBe(
      'PromptShim: 7 (a, b, c, d, e, +2)',
    )
  })

  test('ends with those that were held back', () => {
    const all = of('PromptShim', 'a', 'b', 'c')
    const one = { ...caps, PromptShim: 1 }
    expect(summariseSelection(select(all, { caps: one }))).toBe('PromptShim: 1 (a); +2 capped (b, c)')
  })
})

describe('scopes', () => {
  const place = (type: ArtifactType, service_name?: string) => ({ type, service_name })

  test.each([
    ['l1', place('PromptShim'), true],
    ['l2', place('PromptShim'), true],
    ['l3:maps', place('PromptShim'), false],
    ['l1', place('PromptShim', 'maps'), false],
    ['l3:maps', place('PromptShim', 'maps'), true],
    ['l3:tides', place('PromptShim', 'maps'), false],
    ['l2', place('PromptShim', 'gateway'), true],
    ['l1', place('PromptShim', 'gateway'), false],
    ['l1', place('FailurePattern', 'maps'), true],
    ['l3:maps', place('FailurePattern', 'maps'), true],
    ['l3:tides', place('FailurePattern', 'maps'), false],
  ])('%s, %o: %s', (scope, of, expected) => {
    expect(isAddressedTo(scope, of)).toBe(expected)
  })
})

test('guidance about a tool or service that the subscriber cannot use is not usable', () => {
  const usable = { tools: new Set(['maps/echo']), services: new Set(['maps']) }
  const verdict = (type: ArtifactType, more = {}) => isUsable(indexArtifact('a', buildArtifact(type, more)), usable)
  expect(verdict('FailurePattern')).toBe(true)
  expect(verdict('FailurePattern', { content: { tool: 'tides/echo' } })).toBe(false)
  expect(verdict('ToolPairingHint')).toBe(false)
  expect(verdict('ServiceConnectionHint')).toBe(false)
  expect(verdict('ServiceConnectionHint', { content: { to: 'gateway' } })).toBe(true)
  expect(verdict('CapabilityMap')).toBe(true)
  const unseen = { name: 'count', intent_classes: [] }
  expect(verdict('CapabilityMap', { content: { tools: [unseen] } })).toBe(false)
  expect(verdict('IntentPattern', { content: { operations: ['tides/echo'] } })).toBe(false)
  expect(verdict('PromptShim')).toBe(true)
  expect(verdict('PromptShim', { service_name: 'maps', tool_name: 'count' })).toBe(false)
})

test('what is attached has the documented fields, and no embedding', () => {
  const content = { embedding_vector: [0.1, 0.2], embedding_model: 'n-grams', confidence: 0.5 }
  const { attached } = indexArtifact('a', buildArtifact('PromptShim', { content, version: 3 }))
  expect(attached).toEqual({
    ...{ id: 'a', type: 'PromptShim', version: 3, rationale: 'seen 20 times', applicability: { tags: [] } },
    content: { body: 'name the sheet of a map', confidence: 0.5 },
  })
})
