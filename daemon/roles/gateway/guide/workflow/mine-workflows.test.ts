// Exemplars and patterns from generations of workflows: with their support and rate, and none from what nobody has run.
import { expect, test } from 'vitest'
import { runToEnd } from '../../../../kernel/role/run-to-end.ts'
import { artifactContents } from '../artifact/content.ts'
import { checkMined } from '../drift/check-mined.ts'
import { GraphView } from '../drift/graph-view.ts'
import type { WorkflowGeneration } from './generation.ts'
import { mineWorkflows } from './mine-workflows.ts'

const generation = (more: Partial<WorkflowGeneration> = {}): WorkflowGeneration => ({
  ...{ tenant_id: 'alpha', service: 'pipeline-service', object: 'effect', uid: 'ef_1', trace_id: '1', at: 0 },
  ...{ intent_class: 'create_effect', steps: ['ingest_file', 'write'], verdict: 'accepted' },
  ...{ executions: { success: 1, failure: 0 }, ...more },
})
const repeat = (times: number, more: Partial<WorkflowGeneration> = {}) =>
  Array.from({ length: times }, (_, at) => generation({ trace_id: String(at), ...more }))
const mine = (generations: readonly WorkflowGeneration[]) => runToEnd(mineWorkflows(generations))

test('operators that succeed again and again become an exemplar with its support, rate and traces', () => {
  const failing = { executions: { success: 0, failure: 2 } }
  const unseen = { executions: { success: 0, failure: 0 } }
  const found = mine([...repeat(20), ...repeat(1, failing), ...repeat(1, { verdict: 'edited' }), ...repeat(5, unseen)])
  expect(found).toMatchObject([
    {
      ...{ type: 'DecisionTrajectory', service_name: 'pipeline-service' },
      applicability: { intent_class: 'create_effect', tags: ['workflow'] },
      content: { steps: ['ingest_file', 'write'], support: 22, success_rate: 20 / 22 },
    },
  ])
  expect(found[0]?.trace_ids).toHaveLength(16)
  expect(artifactContents.DecisionTrajectory.safeParse(found[0]?.content).success).toBe(true)
})

test('few, failing, edited and discarded ones are not exemplars', () => {
  expect(mine(repeat(7))).toEqual([])
  expect(mine([...repeat(8), ...repeat(6, { verdict: 'discarded' })])).toEqual([])
  expect(mine(repeat(20, { steps: undefined }))).toEqual([])
})

test('what different workflows of an intent have in common is a pattern', () => {
  const found = mine([...repeat(4), ...repeat(4, { steps: ['ingest_file', 'validate', 'write'] })])
  expect(found).toMatchObject([
    {
      ...{ type: 'IntentPattern', applicability: { intent_class: 'create_effect', tags: ['workflow'] } },
      content: { words: ['create', 'effect'], operations: ['ingest_file', 'write'], support: 8 },
    },
  ])
  expect(artifactContents.IntentPattern.safeParse(found[0]?.content).success).toBe(true)
})

test('an exemplar is checked against the edges from its intent to its operators', () => {
  const [draft] = mine(repeat(20))
  if (!draft) throw new Error('nothing was found')
  const nodes = ['ingest_file', 'write'].map((operator) => ({
    ...({ id: operator, graph_id: 'intent_tool_graph', kind: 'tool' } as const),
    node_label: `pipeline-service/operator:${operator}`,
  }))
  const intent = {
    id: 'i',
    graph_id: 'intent_tool_graph',
    kind: 'intent',
    node_label: 'gateway/create_effect',
  } as const
  const view = (weight: number) =>
    new GraphView(
      [intent, ...nodes],
      nodes.map(({ id }) => ({
        ...({ graph_id: 'intent_tool_graph', source_id: 'i', target_id: id, count: 20 } as const),
        ...{ weight, recent_weight: weight, long_weight: weight },
      })),
    )
  expect(checkMined(draft, view(0.9))).toEqual([])
  expect(checkMined(draft, view(0.1)).map(({ rule }) => rule)).toEqual(['contradicted_edge', 'contradicted_edge'])
  expect(checkMined(draft, new GraphView([], [])).map(({ rule }) => rule)).toContain('unknown_intent')
})
