// The cache of a subscriber: six accessors, in the order of the gateway.
import { expect, test } from 'vitest'
import type { AttachedArtifact, GuidanceBlock } from './guidance-block.ts'
import { GuidanceCache } from './guidance-cache.ts'
import { takeGuidance } from './take-guidance.ts'

const piece = (id: string, type: string, content: object, more: Partial<AttachedArtifact> = {}): AttachedArtifact => ({
  ...{ id, type, version: 1, rationale: 'seen', applicability: { tags: [] } },
  content: { ...content },
  ...more,
})
const block = (...artifacts: AttachedArtifact[]): GuidanceBlock => ({
  ...{ as_of: '2026-01-01T00:00:00.000Z', artifacts, rationale_summary: '' },
})
const filled = (...artifacts: AttachedArtifact[]) => {
  const cache = new GuidanceCache()
  cache.update(block(...artifacts))
  return cache
}

test('an empty cache gives empty lists, or none', () => {
  const cache = new GuidanceCache()
  expect([
    cache.get_system_prompt_additions(),
    cache.get_spec_fragments(),
    cache.get_tool_pairing_hints('maps/echo'),
    cache.get_active_failure_patterns(),
    cache.get_service_connection_hints(),
  ]).toEqual([[], [], [], [], []])
  expect(cache.get_tool_description_overrides('maps/echo')).toBeUndefined()
})

test('additions come by score, confidence, narrowing and weight; equal ones as the gateway sent them', () => {
  const shim = (id: string, content: object = {}, more = {}) => piece(id, 'PromptShim', { body: id, ...content }, more)
  const cache = filled(
    shim('last', { evaluator_score: 0.5, weight: 100 }),
    shim('weighty', { weight: 2 }),
    shim('newer'),
    shim('older'),
    shim('narrow', {}, { applicability: { tags: ['x'] } }),
    shim('sure', { confidence: 0.1 }),
  )
  expect(cache.get_system_prompt_additions()).toEqual(['sure', 'narrow', 'weighty', 'newer', 'older', 'last'])
})

test('an intent leaves out what is for another one', () => {
  const forRoute = { applicability: { intent_class: 'route', tags: [] } }
  const forTide = { applicability: { intent_class: 'tide', tags: ['sea'] } }
  const cache = filled(
    piece('a', 'SpecFragment', { spec_id: 'a', body: 'A' }, forRoute),
    piece('b', 'SpecFragment', { spec_id: 'b', body: 'B', weight: 0.5 }, forTide),
    piece('c', 'SpecFragment', { spec_id: 'c', body: 'C' }),
  )
  const idsFor = (intent?: object) => cache.get_spec_fragments(intent).map(({ id }) => id)
  expect([idsFor({ intent_class: 'route' }), idsFor({ tags: ['land'] }), idsFor()]).toEqual([
    ['a', 'c'],
    ['a', 'c'],
    ['b', 'a', 'c'],
  ])
})

test('tools are found by label, by the name of the catalogue, and by the bare name of an agent', () => {
  const tools = [{ name: 'echo', intent_classes: [], description_override: 'Echoes' }, { name: 'count' }]
  const cache = filled(
    piece('m', 'CapabilityMap', { service: 'maps', tools }),
    piece('t', 'CapabilityMap', { service: 'tides', tools: [{ name: 'echo', routing_hint: 'sea', weight: 1 }] }),
    piece('p', 'ToolPairingHint', { tool: 'maps/echo', next_tool: 'maps/count', hint: 'count' }),
  )
  expect(cache.get_tool_description_overrides('maps/echo')).toEqual({ description_override: 'Echoes' })
  expect(cache.get_tool_description_overrides('tides__echo')).toEqual({ routing_hint: 'sea' })
  expect(cache.get_tool_description_overrides('echo')).toEqual({ description_override: 'Echoes' })
  expect(cache.get_tool_description_overrides('maps/count')).toBeUndefined()
  expect(cache.get_tool_pairing_hints('maps__echo')).toMatchObject([{ next_tool: 'maps/count' }])
  expect(cache.get_tool_pairing_hints('tides/echo')).toEqual([])
})

test('an update replaces the set, a repeat changes nothing, and null empties it', () => {
  const cache = filled(piece('f', 'FailurePattern', { tool: 'maps/echo' }))
  cache.update(block(piece('g', 'FailurePattern', { tool: 'maps/count' })))
  cache.update(block(piece('g', 'FailurePattern', { tool: 'maps/count' })))
  expect(cache.get_active_failure_patterns()).toEqual([{ tool: 'maps/count' }])
  cache.update(null)
  expect(cache.get_active_failure_patterns()).toEqual([])
})

test('an agent takes guidance out of its arguments, and drops what has another form', () => {
  const guide_guidance = block(piece('f', 'FailurePattern', { tool: 'maps/echo' }))
  expect(takeGuidance({ a: 1, guide_guidance })).toEqual({ guidance: guide_guidance, input: { a: 1 } })
  expect(takeGuidance({ a: 1 })).toEqual({ guidance: null, input: { a: 1 } })
  expect(takeGuidance({ guide_guidance: 'obey' })).toEqual({ guidance: null, input: {} })
  const broken = { ...guide_guidance, artifacts: [{ id: 1 }, null, ...guide_guidance.artifacts] }
  expect(takeGuidance({ guide_guidance: broken }).guidance).toEqual(guide_guidance)
})
