// Nodes and edges: windows follow their events, a batch counts once, and shares of a decision add up.
import { describe, expect, test } from 'vitest'
import type { GraphEdge } from './model.ts'
import { GraphPlan } from './plan.ts'
import { applyEdge, applyNode, countPrior, joinTraces, nodeId } from './rules.ts'

const scope = { tenant_id: 'alpha' }
const momentOf = (at: number) => ({ scope, at, trace_id: `t${at}` })

/** The edge after batches of values. */
function weigh(...batches: readonly (readonly number[])[]): GraphEdge | undefined {
  let edge: GraphEdge | undefined
  for (const [at, values] of batches.entries()) {
    const plan = new GraphPlan(() => true)
    for (const value of values)
      plan.edge(momentOf(at), { graph_id: 'intent_tool_graph', source_id: 'a', target_id: 'b', value })
    for (const delta of plan.edges.values()) edge = applyEdge(edge, delta, 0, { seq: at + 1, now: at })
  }
  return edge
}

describe('windows of an edge', () => {
  test('have half of the weight of an event after 10 and after 100 further ones', () => {
    const edge = weigh(
      [1],
      Array.from({ length: 10 }, () => 0),
    )
    expect(edge?.recent_weight).toBeCloseTo(0.5, 10)
    expect(
      weigh(
        [1],
        Array.from({ length: 100 }, () => 0),
      )?.long_weight,
    ).toBeCloseTo(0.5, 10)
    expect(edge?.weight).toBeCloseTo(1 / 11, 10)
    expect(edge?.count).toBe(11)
  })

  test('are the same however the events are divided into batches', () => {
    const values = Array.from({ length: 60 }, (_, at) => ((at * 7) % 3 === 0 ? 1 : 0))
    const whole = weigh(values)
    const single = weigh(...values.map((value) => [value]))
    expect(single?.recent_weight).toBeCloseTo(whole?.recent_weight ?? 0, 12)
    expect(single?.weight).toBeCloseTo(whole?.weight ?? 0, 12)
    expect(single?.count).toBe(whole?.count)
  })

  test('part when the outcomes change, which is the signal of drift', () => {
    const edge = weigh(
      Array.from({ length: 200 }, () => 1),
      Array.from({ length: 20 }, () => 0),
    )
    expect((edge?.long_weight ?? 0) - (edge?.recent_weight ?? 0)).toBeGreaterThan(0.5)
  })
})

describe('shares of a decision', () => {
  const outcomes = ['success', 'error'] as const
  /** The edges by outcome after one batch for each list of outcomes. */
  function decide(...batches: readonly (readonly (typeof outcomes)[number][])[]) {
    const edges = new Map<string, GraphEdge>()
    for (const [at, taken] of batches.entries()) {
      const plan = new GraphPlan(() => true)
      for (const outcome of taken) plan.share(momentOf(at), 'decision', outcome, outcomes)
      const seq = at + 1
      const priors = [...plan.edges.values()].map((delta) => countPrior(delta, (id) => edges.get(id), seq))
      for (const [index, delta] of [...plan.edges.values()].entries()) {
        const edge = applyEdge(edges.get(delta.id), delta, priors[index] ?? 0, { seq, now: at })
        if (edge) edges.set(delta.id, edge)
      }
    }
    const target = (outcome: string) => nodeId(scope, 'outcome_graph', 'outcome', outcome)
    return outcomes.map((outcome) => [...edges.values()].find(({ target_id }) => target_id === target(outcome)))
  }

  test('add up to one, and an outcome that is new begins at nothing', () => {
    const [success, error] = decide(['success', 'success', 'success'], ['error'])
    expect([success?.weight, error?.weight]).toEqual([0.75, 0.25])
    expect((success?.recent_weight ?? 0) + (error?.recent_weight ?? 0)).toBeCloseTo(1, 12)
    expect([success?.count, error?.count, error?.weighed]).toEqual([3, 1, 4])
  })

  test('have no edge to an outcome that never came', () => {
    expect(decide(['success'])[1]).toBeUndefined()
  })
})

test('nodes count occurrences and outcomes, and keep the newest traces', () => {
  const plan = new GraphPlan(() => true)
  for (let at = 0; at < 20; at += 1)
    plan.node(momentOf(at), { graph_id: 'outcome_graph', kind: 'decision_point', label: 'x/y', outcome: 'success' })
  const [delta] = plan.nodes.values()
  const node = delta && applyNode(undefined, delta, 1, 99)
  expect(node).toMatchObject({
    occurrences: 20,
    outcome_distribution: { success: 20 },
    first_seen_ts: 0,
    last_seen_ts: 19,
  })
  expect(node?.trace_ids).toEqual(Array.from({ length: 16 }, (_, at) => `t${at + 4}`))
  expect(joinTraces(['a', 'b'], ['a'])).toEqual(['b', 'a'])
})

test('beyond the bound of a graph further labels are one node', () => {
  const plan = new GraphPlan((_, __, id) => id === nodeId(scope, 'intent_tool_graph', 'tool', 'maps/known'))
  for (const label of ['maps/known', 'maps/a', 'maps/b'])
    plan.node(momentOf(1), { graph_id: 'intent_tool_graph', kind: 'tool', label })
  expect([...plan.nodes.values()].map(({ node_label, occurrences }) => [node_label, occurrences])).toEqual([
    ['maps/known', 1],
    ['other', 2],
  ])
})

test('tenants and labels have nodes of their own', () => {
  const label = { policy: 'SITE', level: 'LOW', categories: [], originator: 'alpha' }
  const scopes = [scope, { tenant_id: 'bravo' }, { ...scope, label }, { ...scope, label: { ...label, level: 'HIGH' } }]
  expect(new Set(scopes.map((each) => nodeId(each, 'outcome_graph', 'outcome', 'success'))).size).toBe(4)
})
