// The fold of observed calls into generations of workflows, and what the learner takes from them.
import { expect, test } from 'vitest'
import { labelDecision } from './labels.ts'
import { readObservedCall, type ToolObservation } from './observed-call.ts'
import { WorkflowMemory } from './workflow-memory.ts'

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
  caller_identity: { username: 'ann', roles: [] },
  emitted_by: { token_subject: 'ann', token_roles: [], context: 'in_process' },
})

const operators = (...names: string[]) => names.map((name) => ({ name, params: {} }))
const create = (minute: number, uid = 'ef_1', names = ['ingest_file', 'write'], given: ObservationTerms = {}) =>
  observe(minute, 'effect_create', { operators: operators(...names) }, { uid, dag_id: `effect__${uid}` }, given)
const run = (id: string, state: string, minute: number, uid = 'ef_1') => ({
  ...{ dag_id: `effect__${uid}`, dag_run_id: id, state, start_date: instant(minute), logical_date: null },
})
const status = (minute: number, shown: object, uid = 'ef_1') =>
  observe(minute, 'effect_status', { uid }, { uid, ...shown })

function followAll(observations: ToolObservation[], intent?: string) {
  const memory = new WorkflowMemory()
  const calls = observations.flatMap((each) => readObservedCall(each) ?? [])
  const events = calls.flatMap((call) => memory.follow(call, intent))
  return { generations: [...memory.list({ tenant_id: 'alpha' })], events }
}
const verdicts = (observations: ToolObservation[]) =>
  followAll(observations).generations.map(({ verdict, executions: { success, failure } }) => [
    verdict,
    success,
    failure,
  ])
/** Outcomes as they are added to the graphs, with the place of the graph in a row of corrections. */
const outcomes = (observations: ToolObservation[]) =>
  followAll(observations).events.flatMap((event) =>
    event.kind === 'outcome' ? [`${event.outcome} ${event.generation.iteration}${event.isRerun ? ' again' : ''}`] : [],
  )

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
  // Each outcome comes once, when it is first shown.
  expect(outcomes([create(0), ...runs, ...runs])).toEqual([
    ...['success 1', 'feedback_up 1', 'error 1 again', 'success 1 again'],
  ])
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
  const [found] = followAll([{ ...deploy, service: 'gateway' }], 'create_pipeline').generations
  expect(found).toMatchObject({
    object: 'datapipeline',
    uid: 'pl_1',
    steps: ['ingest_file', 'write'],
    intent_class: 'create_pipeline',
  })
  const python = observe(0, 'datapipeline_deploy', { content: 'import airflow' }, { uid: 'pl_2' })
  expect(followAll([python]).generations).toMatchObject([{ uid: 'pl_2', steps: undefined }])
})

test('tenants never share a workflow, even under one id', () => {
  const foreign = observe(1, 'effect_status', { uid: 'ef_1' }, { uid: 'ef_1', status: 'active' }, { tenant: 'bravo' })
  expect(verdicts([create(0), foreign])).toEqual([[undefined, 0, 0]])
})

test('a decision is named by its operators, or by their digest where they are long', () => {
  expect(labelDecision('pipeline-service', ['ingest_file', 'write'])).toBe(
    'pipeline-service/workflow:ingest_file>write',
  )
  const long = Array.from({ length: 64 }, () => 'ingest_database')
  expect(labelDecision('pipeline-service', long)).toMatch(/^pipeline-service\/workflow:[0-9a-f]{32}$/)
})

test('a workflow is accepted once a run has succeeded, or once it could no longer be corrected; each change of mind is an outcome', () => {
  const live = (minute: number) => status(minute, { status: 'active' })
  expect(outcomes([create(0), live(1), live(59)])).toEqual([])
  expect(outcomes([create(0), live(1), live(61), live(90)])).toEqual(['feedback_up 1'])
  const remove = observe(95, 'effect_delete', { uid: 'ef_1', confirm: true }, { deleted: true })
  expect(outcomes([create(0), live(61), remove, remove])).toEqual(['feedback_up 1', 'feedback_abandoned 1'])
  const edit = observe(30, 'effect_update', { uid: 'ef_1', operators: operators('ingest_http') }, { uid: 'ef_1' })
  expect(outcomes([create(0), live(1), edit, live(31), live(92)])).toEqual(['feedback_down 1', 'feedback_up 2'])
})

test('outcomes end with the time that observations are kept', () => {
  const month = 30 * 24 * 60
  const late = status(month, { last_run: run('m_1', 'success', month) })
  expect(outcomes([create(0), late])).toEqual(['success 1', 'feedback_up 1'])
  expect(outcomes([create(0), status(month + 1, { last_run: run('m_1', 'success', month) })])).toEqual([])
})
