// The fold of observed calls into generations of workflows, and what the learner takes from them.
import { expect, test } from 'vitest'
import { runToEnd } from '../../../../kernel/role/run-to-end.ts'
import { artifactContents } from '../artifact/content.ts'
import { listWorkflowOutcomes, proposeTrajectories } from './learned.ts'
import type { ToolObservation } from './observed-call.ts'
import { foldGenerations, type OutcomeTerms, type WorkflowGeneration } from './outcomes.ts'

const hour_ms = 3_600_000
const terms = { edit_window_ms: hour_ms }
const begun = Date.UTC(2026, 0, 1)
const instant = (minute: number) => new Date(begun + minute * 60_000).toISOString()

type ObservationTerms = {
  readonly trace?: string
  readonly tenant?: string
  readonly type?: ToolObservation['event_type']
}

const observe = (
  minute: number,
  tool: string,
  input: object,
  output: unknown = {},
  { trace = '1', tenant = 'alpha', type = 'tool_output' }: ObservationTerms = {},
): ToolObservation => ({
  ...{ tenant_id: tenant, event_type: type, trace_id: trace.padStart(32, '0'), timestamp: instant(minute) },
  ...{ service: 'pipeline-service', payload: { tool, inputs: input, outputs: output } },
})

const operators = (...names: string[]) => names.map((name) => ({ name, params: {} }))
const create = (minute: number, uid = 'ef_1', names = ['ingest_file', 'write'], given: ObservationTerms = {}) =>
  observe(minute, 'effect_create', { operators: operators(...names) }, { uid, dag_id: `effect__${uid}` }, given)
const run = (id: string, state: string, minute: number, uid = 'ef_1') => ({
  ...{ dag_id: `effect__${uid}`, dag_run_id: id, state, start_date: instant(minute), logical_date: null },
})
const status = (minute: number, shown: object, uid = 'ef_1') =>
  observe(minute, 'effect_status', { uid }, { uid, ...shown })

const foldAll = (observations: ToolObservation[], of: OutcomeTerms) => runToEnd(foldGenerations(observations, of))
const verdicts = (observations: ToolObservation[]) =>
  foldAll(observations, terms).map(({ verdict, executions: { success, failure } }) => [verdict, success, failure])

test('a workflow that is live as it was generated is accepted, and its runs are counted once', () => {
  expect(verdicts([create(0)])).toEqual([[undefined, 0, 0]])
  const shown = status(1, { status: 'active' })
  expect(verdicts([create(0), shown])).toEqual([['accepted', 0, 0]])
  const runs = [
    status(2, { status: 'running', last_run: run('m_1', 'running', 2) }),
    status(3, { status: 'active', last_run: run('m_1', 'success', 2) }),
    observe(4, 'effect_runs', { uid: 'ef_1' }, { items: [run('m_1', 'success', 2), run('m_2', 'failed', 3)] }),
    observe(5, 'datapipeline_run_status', { dag_id: 'effect__ef_1', dag_run_id: 'm_3' }, run('m_3', 'success', 4)),
  ]
  expect(verdicts([create(0), ...runs])).toEqual([['accepted', 2, 1]])
  // In any order: their times decide.
  expect(verdicts([...runs, create(0)].reverse())).toEqual([['accepted', 2, 1]])
})

test('a change of the graph soon after is an edit; later, or of the name alone, it is not', () => {
  const update = (minute: number, change: object) =>
    observe(minute, 'effect_update', { uid: 'ef_1', ...change }, { uid: 'ef_1' })
  const other = { operators: operators('ingest_file', 'validate', 'write') }
  const live = status(1, { status: 'active' })
  expect(verdicts([create(0), live, update(30, other)])).toEqual([
    ['edited', 0, 0],
    [undefined, 0, 0],
  ])
  expect(verdicts([create(0), live, update(90, other)])).toEqual([
    ['accepted', 0, 0],
    [undefined, 0, 0],
  ])
  expect(verdicts([create(0), live, update(30, { name: 'other' })])).toEqual([['accepted', 0, 0]])
  // The same request again, or the same graph deployed again.
  expect(verdicts([create(0), create(1), live])).toEqual([['accepted', 0, 0]])
  expect(verdicts([create(0), live, update(30, { operators: operators('ingest_file', 'write') })])).toEqual([
    ['accepted', 0, 0],
  ])
  // A graph that the check refused was never accepted.
  expect(verdicts([create(0), status(1, { status: 'rejected' }), update(90, other)])[0]).toEqual(['edited', 0, 0])
  expect(verdicts([create(0), update(90, other)])[0]).toEqual([undefined, 0, 0])
})

test('a run belongs to the graph that was live when it began', () => {
  const change = observe(60, 'effect_update', { uid: 'ef_1', operators: operators('ingest_http') }, { uid: 'ef_1' })
  const late = status(61, { status: 'active', last_run: run('m_1', 'failed', 59) })
  const fresh = status(70, { status: 'active', last_run: run('m_2', 'success', 65) })
  expect(verdicts([create(0), change, late, fresh])).toEqual([
    ['edited', 0, 1],
    ['accepted', 1, 0],
  ])
})

test('a removal without a run that succeeded discards the workflow', () => {
  const remove = observe(9, 'effect_delete', { uid: 'ef_1', confirm: true }, { deleted: true })
  const failed = status(2, { last_run: run('m_1', 'failed', 1) })
  expect(verdicts([create(0), failed, remove])).toEqual([['discarded', 0, 1]])
  expect(verdicts([create(0), status(2, { last_run: run('m_1', 'success', 1) }), remove])).toEqual([['accepted', 1, 0]])
})

test('calls that failed, other tools, and answers without an id are no generations', () => {
  const refused = create(0, 'ef_1', ['write'], { type: 'tool_error' })
  expect(verdicts([refused, observe(1, 'signal_create', { operators: operators('write') }, { uid: 's' })])).toEqual([])
  expect(verdicts([observe(1, 'effect_create', { operators: operators('write') }, '[cut]')])).toEqual([])
  expect(verdicts([{ ...create(0), timestamp: 'yesterday' }])).toEqual([])
})

test('pipelines too: by their content, in the order of their tasks, under the name that the gateway gives the tool', () => {
  const tasks = [
    { name: 'out', operator: 'write', after: ['in'] },
    { name: 'in', operator: 'ingest_file' },
  ]
  const content = JSON.stringify({ format: 1, dag_id: 'orders', tasks })
  const deploy = observe(
    0,
    'pipeline-service__datapipeline_deploy',
    { dag_id: 'orders', content },
    { uid: 'pl_1', dag_id: 'orders' },
  )
  const [found] = foldAll([{ ...deploy, service: 'gateway' }], { ...terms, classOf: () => 'create_pipeline' })
  expect(found).toMatchObject({
    object: 'datapipeline',
    uid: 'pl_1',
    steps: ['ingest_file', 'write'],
    intent_class: 'create_pipeline',
  })
  const python = foldAll([observe(0, 'datapipeline_deploy', { content: 'import airflow' }, { uid: 'pl_2' })], terms)
  expect(python).toMatchObject([{ uid: 'pl_2', steps: undefined }])
  expect(listWorkflowOutcomes(python)).toEqual([])
})

test('tenants never share a workflow, even under one id', () => {
  const foreign = observe(1, 'effect_status', { uid: 'ef_1' }, { uid: 'ef_1', status: 'active' }, { tenant: 'bravo' })
  expect(verdicts([create(0), foreign])).toEqual([[undefined, 0, 0]])
})

const generation = (more: Partial<WorkflowGeneration> = {}): WorkflowGeneration => ({
  ...{ tenant_id: 'alpha', service: 'pipeline-service', object: 'effect', uid: 'ef_1', trace_id: '1', at: begun },
  ...{ intent_class: 'create_effect', steps: ['ingest_file', 'write'], verdict: 'accepted' },
  ...{ executions: { success: 1, failure: 0 } },
  ...more,
})

test('outcomes carry the universal labels at the decision point of the operators', () => {
  const node_label = 'pipeline-service/workflow:ingest_file>write'
  const of = (more: Partial<WorkflowGeneration>) =>
    listWorkflowOutcomes([generation(more)]).map(({ outcome, count }) => `${outcome} ${count}`)
  expect(listWorkflowOutcomes([generation()])[0]).toMatchObject({ node_label, trace_id: '1', tenant_id: 'alpha' })
  expect(of({ executions: { success: 2, failure: 1 } })).toEqual(['feedback_up 1', 'success 2', 'error 1'])
  expect(of({ verdict: 'edited', executions: { success: 0, failure: 0 } })).toEqual(['feedback_down 1'])
  expect(of({ verdict: 'discarded', executions: { success: 0, failure: 0 } })).toEqual(['feedback_abandoned 1'])
  const [long] = listWorkflowOutcomes([generation({ steps: Array.from({ length: 64 }, () => 'ingest_database') })])
  expect(long?.node_label).toMatch(/^pipeline-service\/workflow:[0-9a-f]{32}$/)
})

test('trajectories are proposed with their support and success rate, apart by tenant, and fit the model of artifacts', () => {
  const failing = { executions: { success: 0, failure: 2 } }
  const unseen = { executions: { success: 0, failure: 0 } }
  const all = [
    ...[generation({ trace_id: '1' }), generation({ trace_id: '2' }), generation({ trace_id: '3', ...failing })],
    ...[generation({ trace_id: '4', verdict: 'edited' }), generation({ trace_id: '5', ...unseen })],
    ...[generation({ tenant_id: 'bravo' }), generation({ steps: ['ingest_http'] })],
  ]
  const proposals = proposeTrajectories(all, 3)
  expect(proposals).toMatchObject([
    {
      ...{ type: 'DecisionTrajectory', tenant_id: 'alpha', service_name: 'pipeline-service' },
      ...{ applicability: { intent_class: 'create_effect', tags: ['workflow'] }, trace_ids: ['1', '2', '3', '4'] },
      content: { intent_class: 'create_effect', steps: ['ingest_file', 'write'], support: 4, success_rate: 0.5 },
    },
  ])
  expect(artifactContents.DecisionTrajectory.safeParse(proposals[0]?.content).success).toBe(true)
  expect(proposeTrajectories(all, 5)).toEqual([])
})
