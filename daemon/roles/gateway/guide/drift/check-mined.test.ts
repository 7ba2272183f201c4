// The four rules of drift, the divergence of both windows, and failures that escalate.
import { expect, test } from 'vitest'
import type { MinedArtifact } from '../learning/mined-artifact.ts'
import { checkMined, findDivergence, isEscalating } from './check-mined.ts'
import { GraphView } from './graph-view.ts'

type Windows = { weight: number; count?: number; recent?: number; long?: number }

function view(edges: Readonly<Record<string, Windows>>): GraphView {
  const nodes = [
    { id: 'intent', kind: 'intent' as const, node_label: 'gateway/export_report' },
    { id: 'search', kind: 'tool' as const, node_label: 'records/search' },
    { id: 'success', kind: 'outcome' as const, node_label: 'success' },
    { id: 'error', kind: 'outcome' as const, node_label: 'error' },
  ]
  const viewed = Object.entries(edges).map(([name, { weight, count = 100, recent = weight, long = weight }]) => {
    const [source_id = '', target_id = ''] = name.split(' ')
    const graph_id = source_id === 'intent' ? ('intent_tool_graph' as const) : ('outcome_graph' as const)
    return { graph_id, source_id, target_id, count, weight, recent_weight: recent, long_weight: long }
  })
  return new GraphView(
    nodes.map((node) => ({ ...node, graph_id: 'intent_tool_graph' as const })),
    viewed,
  )
}

const common = { key: 'k', rationale: 'r', trace_ids: [] }
const pattern = (operations: string[], intent_class = 'export_report'): MinedArtifact => ({
  ...{ ...common, type: 'IntentPattern', applicability: { intent_class, tags: [] } },
  content: { intent_class, words: [], operations, support: 20 },
})
const failure = (argument?: string): MinedArtifact => ({
  ...{ ...common, type: 'FailurePattern', applicability: { tags: [] } },
  content: {
    ...{ tool: 'records/search', ...(argument ? { argument, value: '1' } : {}), error: 'no', support: 20 },
    ...{ failure_rate: 0.9, baseline_rate: 0.1, advice: 'a' },
  },
})
const rulesOf = (mined: MinedArtifact, graph: GraphView) => checkMined(mined, graph).map(({ rule }) => rule)

test('what agrees with the graph is evolution', () => {
  expect(rulesOf(pattern(['records/search']), view({ 'intent search': { weight: 0.9 } }))).toEqual([])
  expect(
    rulesOf(failure('page'), view({ 'search success': { weight: 0.9 }, 'search error': { weight: 0.1 } })),
  ).toEqual([])
})

test('an edge that is absent, or has a low weight, is contradicted', () => {
  expect(rulesOf(pattern(['records/search']), view({}))).toEqual(['contradicted_edge'])
  expect(rulesOf(pattern(['records/search']), view({ 'intent search': { weight: 0.1 } }))).toEqual([
    'contradicted_edge',
  ])
  expect(rulesOf(failure('page'), view({ 'search success': { weight: 1 } }))).toEqual(['contradicted_edge'])
})

test('a class of intents that no node has is unknown', () => {
  const graph = view({ 'intent search': { weight: 0.9 } })
  expect(rulesOf(pattern(['records/search'], 'wipe_disk'), graph)).toEqual(['unknown_intent', 'contradicted_edge'])
})

test('that a whole tool fails inverts an edge by which it nearly always succeeds, and not one of few calls', () => {
  const strong = view({ 'search success': { weight: 0.95 }, 'search error': { weight: 0.05 } })
  expect(rulesOf(failure(), strong)).toEqual(['inverted_edge'])
  const weak = view({ 'search success': { weight: 0.95, count: 5 }, 'search error': { weight: 0.05, count: 5 } })
  expect(rulesOf(failure(), weak)).toEqual([])
})

test('an edge whose weight is on its way to nothing diverges from what is proposed', () => {
  const declining = view({ 'intent search': { weight: 0.6, recent: 0.3, long: 0.7 } })
  expect(checkMined(pattern(['records/search']), declining)).toEqual([
    {
      ...{ rule: 'diverging_trajectory', graph_id: 'intent_tool_graph', source: 'export_report' },
      ...{ target: 'records/search', recent: 0.3, long: 0.7 },
    },
  ])
})

test('windows of an edge with enough events that have moved apart are drift', () => {
  const [apart] = view({ 'search success': { weight: 0.8, recent: 0.4, long: 0.8 } }).everyEdge()
  expect(apart && findDivergence(apart)).toMatchObject({ rule: 'window_divergence', recent: 0.4, long: 0.8 })
  const [few] = view({ 'search success': { weight: 0.8, recent: 0.4, long: 0.8, count: 10 } }).everyEdge()
  expect(few && findDivergence(few)).toBeUndefined()
})

test('three failures within ten minutes escalate', () => {
  expect(isEscalating([0, 100_000, 200_000], 200_000)).toBe(true)
  expect(isEscalating([0, 300_000, 600_000], 600_000)).toBe(false)
})
