// Each rule by a DAG that has its weakness and one that does not, and the bounds of the analysis.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assembledDag, type DagTask, dagTask } from '../../../../shared/assembled-dag/assembled-dag.ts'
import { hintCategories, hintRules } from './hint.ts'
import { listHints, max_hints } from './hints.ts'

type TaskParams = Record<string, unknown>

const task = (
  name: string,
  operator: string,
  params: TaskParams = {},
  after: string[] = [],
  more: object = {},
): DagTask => dagTask.parse({ name, operator, params, after, ...more })

const read = (name = 'read') => task(name, 'ingest_file', { file: 'orders.csv' })
const rule = (on_failure?: string) => ({
  name: 'r',
  where: { column: 'a', is: 'present' },
  ...(on_failure && { on_failure }),
})
const check = (after: string, params: TaskParams = { rules: [rule()], max_rejects: 5 }, name = 'checked') =>
  task(name, 'validate', params, [after])
const write = (after: string, file = 'out.csv', name = 'out') => task(name, 'write', { file }, [after])
const cast = (after: string, params: TaskParams = {}, name = 'typed') =>
  task(name, 'cast', { columns: [{ column: 'a', type: 'double' }], ...params }, [after])
const join = (left: string, right: string, params: TaskParams = {}) =>
  task('joined', 'join', { on: [{ left: 'a', right: 'a' }], ...params }, [left, right])
const table = (name: string, params: TaskParams = {}, more: object = {}) =>
  task(name, 'ingest_database', { connection_id: 'conn_1', table: name, ...params }, [], more)

const rulesOf = (tasks: DagTask[], interval_s?: number) =>
  listHints({ tasks }, { interval_s }).map(
    ({ rule: found, node, edge }) => `${found} ${edge ? `${edge.from}>${edge.to}` : node}`,
  )

/** A sound workflow: read, typed, checked, written. */
const sound = [read(), cast('read'), check('typed'), write('checked', 'out.parquet')]

test('a sound workflow has no hints, with and without a schedule', () => {
  expect(rulesOf(sound)).toEqual([])
  expect(rulesOf(sound, 3_600)).toEqual([])
})

describe('missing best practice', () => {
  test.each([
    ['rows that are written as they were read', [read(), write('read')], ['output_without_validation out']],
    [
      'rows that are sent so',
      [read(), task('send', 'filedrop_send', { peer: 'bravo', dataset: 'd' }, ['read'])],
      ['output_without_validation send'],
    ],
    ['an operator that is not known may test them', [read(), task('x', 'test_rows', {}, ['read']), write('x')], []],
    [
      'a response of a service is written',
      [task('ask', 'test_call', { target: 't', rest: { path: 'a' } }), write('ask')],
      [],
    ],
    ['a run of the resolution role measures its records itself', [read(), task('r', 'resolve_run', {}, ['read'])], []],
    ['a remote source without retries', [table('t', {}, { retries: 0 })], ['source_without_retries t']],
    ['a local file without retries', [task('f', 'ingest_file', { file: 'a.parquet' }, [], { retries: 0 })], []],
  ] as const)('%s', (_, tasks, expected) => {
    expect(rulesOf([...tasks])).toEqual(expected)
  })

  test('a time limit above the time between two runs is named once, at the longest task', () => {
    const tasks = [
      read(),
      cast('read'),
      check('typed'),
      task('out', 'write', { file: 'o.csv' }, ['checked'], { time_limit_s: 7_200 }),
    ]
    expect(rulesOf(tasks, 1_800)).toEqual(['time_limit_beyond_schedule out'])
    expect(listHints({ tasks }, { interval_s: 1_800 })[0]?.rationale).toContain('out (and 3 more) may take 7200 s')
    expect(rulesOf(tasks, 7_200)).toEqual([])
  })

  test('a scheduled read of a whole table, unless all rows are needed', () => {
    expect(rulesOf([table('t')], 86_400)).toEqual(['full_read_each_run t'])
    expect(rulesOf([table('t')])).toEqual([])
    expect(rulesOf([table('t', { cursor_column: 'id' })], 86_400)).toEqual([])
    expect(rulesOf([table('t'), task('r', 'resolve_run', {}, ['t'])], 86_400)).toEqual([])
    const objects = (params: TaskParams) => [
      task('o', 'ingest_objects', { connection_id: 'c', pattern: '*.csv', ...params }),
    ]
    expect(rulesOf(objects({}), 86_400)).toEqual(['full_read_each_run o'])
    expect(rulesOf(objects({ only_new: true }), 86_400)).toEqual([])
  })
})

describe('data quality issue', () => {
  test('bad rows that are only counted, unless another task stops them', () => {
    const counting = { rules: [rule('count')] }
    expect(rulesOf([read(), check('read', counting), write('checked')])).toEqual(['rows_only_counted checked'])
    expect(rulesOf([read(), check('read', counting)])).toEqual([])
    expect(rulesOf([read(), check('read', counting), check('checked', undefined, 'strict'), write('strict')])).toEqual(
      [],
    )
    expect(rulesOf([read(), check('read', { rules: [rule('count'), rule('end')] }), write('checked')])).toEqual([])
  })

  test('rejects without a limit, where a file would be replaced', () => {
    const found = listHints({ tasks: [read(), check('read', { rules: [rule()] }), write('checked')] })
    expect(found).toMatchObject([{ rule: 'unbounded_rejects', category: 'data quality issue', node: 'checked' }])
    expect(found[0]?.rationale).toContain('out then replaces "out.csv" by what is left')
    expect(rulesOf([read(), check('read', { rules: [rule()] })])).toEqual([])
    expect(rulesOf([read(), check('read', { rules: [rule('end')] }), write('checked')])).toEqual([])
  })

  test('values that are left out and never tested', () => {
    const lossy = cast('read', { on_misfit: 'leave_out' })
    expect(rulesOf([read(), lossy])).toEqual(['values_left_out typed'])
    expect(rulesOf([read(), lossy, check('typed')])).toEqual([])
    expect(rulesOf([read(), cast('read')])).toEqual([])
  })

  test.each([
    [{ file: 'a.csv' }, true],
    [{ file: 'a.parquet' }, false],
    [{ file: 'A.AVRO' }, false],
    [{ file: 'a.csv', read_as: { format: 'parquet' } }, false],
    [{ file: 'a', read_as: { encoding: 'utf-8' } }, true],
  ])('inferred types of %j that a Parquet file states: %s', (params, expected) => {
    const tasks = [task('in', 'ingest_file', params), write('in', 'o.parquet')]
    expect(rulesOf(tasks).includes('inferred_types in')).toBe(expected)
    expect(rulesOf([task('in', 'ingest_file', params), cast('in'), write('typed', 'o.parquet')])).not.toContain(
      'inferred_types in',
    )
    expect(rulesOf([task('in', 'ingest_file', params), write('in', 'o.csv')])).not.toContain('inferred_types in')
  })
})

describe('modeling issue', () => {
  test('a dataset that no task takes, beside one that is handed on', () => {
    const tasks = [read(), check('read'), write('read')]
    expect(rulesOf(tasks)).toEqual(['output_without_validation out', 'unread_branch checked'])
    expect(listHints({ tasks })[1]?.rationale).toContain('out takes the rows as they were before it')
    expect(rulesOf([...sound, task('other', 'ingest_file', { file: 'b.parquet' })])).toEqual(['unread_branch other'])
    // Landed datasets are a result.
    expect(rulesOf([read(), cast('read'), check('typed')])).toEqual([])
    // A test of the rows: its good rows have no use.
    expect(rulesOf([...sound, check('typed', { rules: [rule('end')] }, 'gate')])).toEqual([])
  })

  test('tasks that do the same, whatever the order of their parameters', () => {
    const one = task('a', 'ingest_file', { file: 'a.parquet', max_rejects: 1 })
    const other = task('b', 'ingest_file', { max_rejects: 1, file: 'a.parquet' })
    expect(rulesOf([one, other])).toEqual(['repeated_task b'])
    expect(rulesOf([one, task('b', 'ingest_file', { max_rejects: 2, file: 'a.parquet' })])).toEqual([])
    const queue = (name: string) => task(name, 'ingest_queue', { connection_id: 'c' })
    expect(rulesOf([queue('a'), queue('b')])).toEqual([])
    expect(rulesOf([read(), cast('read'), cast('read', {}, 'again')])).toEqual(['repeated_task again'])
  })

  test('two tasks with one target', () => {
    const double = [...sound, write('checked', 'out.parquet', 'copy')]
    expect(rulesOf(double)).toEqual(['shared_target copy'])
    expect(listHints({ tasks: double })[0]?.rationale).toContain('the one that happens to end last replaces')
    expect(rulesOf([...sound, write('checked', 'other.parquet', 'copy')])).toEqual([])
    const long = 'a'.repeat(90)
    const longer = [write('checked', `${long}1.csv`, 'one'), write('checked', `${long}2.csv`, 'two')]
    expect(rulesOf([...sound.slice(0, 3), ...longer])).toEqual([])
    const send = (name: string, peer: string) => task(name, 'filedrop_send', { peer, dataset: 'd' }, ['checked'])
    expect(rulesOf([...sound, send('s', 'bravo'), send('t', 'bravo')])).toEqual(['shared_target t'])
    expect(rulesOf([...sound, send('s', 'bravo'), send('t', 'charlie')])).toEqual([])
  })

  test('joins without keys, and with columns that they do not add', () => {
    const sides = [table('l'), table('r')]
    expect(rulesOf([...sides, join('l', 'r')])).toEqual([])
    expect(rulesOf([...sides, join('l', 'r', { on: [] })])).toEqual(['join_without_keys joined'])
    expect(rulesOf([...sides, join('l', 'r', { kind: 'semi', columns: ['x'] })])).toEqual([
      'unused_join_columns joined',
    ])
    expect(rulesOf([...sides, join('l', 'r', { kind: 'left', columns: ['x'] })])).toEqual([])
  })

  test('a join of two sides that each have only what is new', () => {
    const fresh = { cursor_column: 'id' }
    expect(rulesOf([table('l', fresh), table('r', fresh), join('l', 'r')])).toEqual(['join_of_new_rows joined'])
    expect(rulesOf([table('l', fresh), table('r'), join('l', 'r')])).toEqual([])
    // Two branches of one batch.
    const branches = [table('l', fresh), task('p', 'select', { columns: ['a'] }, ['l'])]
    expect(rulesOf([...branches, join('l', 'p')])).toEqual([])
  })

  test('a file that each run replaces by what is new', () => {
    const found = rulesOf([table('t', { cursor_column: 'id' }), check('t'), write('checked')])
    expect(found).toEqual(['file_of_new_rows out'])
    expect(rulesOf([table('t'), check('t'), write('checked')])).toEqual([])
    // All rows of the first dataset, with what is new beside them; and rows that are new, with what is known about them.
    const joined = [join('all', 'new', { kind: 'left' }), check('joined'), write('checked')]
    expect(rulesOf([table('all'), table('new', { cursor_column: 'id' }), ...joined])).toEqual([])
    const inner = [join('all', 'new'), check('joined'), write('checked')]
    expect(rulesOf([table('all'), table('new', { cursor_column: 'id' }), ...inner])).toEqual(['file_of_new_rows out'])
  })

  test('a signal that waits for nothing', () => {
    expect(rulesOf([...sound, task('n', 'notify', { title: 'In' })])).toEqual(['early_signal n'])
    expect(rulesOf([...sound, task('n', 'notify', { title: 'In' }, ['out'])])).toEqual([])
    expect(rulesOf([task('n', 'notify', { title: 'In' })])).toEqual([])
  })

  test('an edge along which no dataset goes, and that others imply', () => {
    const signal = task('n', 'notify', { title: 'In' }, ['read', 'out'])
    expect(listHints({ tasks: [...sound, signal] })).toMatchObject([
      { rule: 'redundant_edge', category: 'modeling issue', edge: { from: 'read', to: 'n' } },
    ])
    // Both datasets are taken.
    expect(rulesOf([read(), cast('read'), join('read', 'typed')])).toEqual([])
  })
})

test('each category of the document has a rule', () => {
  expect(new Set(Object.values(hintRules))).toEqual(new Set(hintCategories))
})

test('a DAG without an order has no hints', () => {
  expect(rulesOf([write('nothing')])).toEqual([])
  expect(rulesOf([read(), read()])).toEqual([])
  expect(rulesOf([write('b', 'x.csv', 'a'), write('a', 'x.csv', 'b')])).toEqual([])
})

const operators = fc.constantFrom(
  ...[
    'ingest_file',
    'ingest_database',
    'ingest_objects',
    'ingest_queue',
    'join',
    'cast',
    'validate',
    'filter',
    'write',
  ],
  ...['notify', 'filedrop_send', 'resolve_run', 'test_call', 'unknown', 'constructor'],
)
const params = fc.dictionary(
  fc.oneof(
    fc.constantFrom('file', 'on', 'rules', 'read_as', 'max_rejects', 'kind', 'columns', 'only_new', 'cursor_column'),
    fc.string(),
  ),
  fc.oneof(fc.jsonValue(), fc.constant([{ on_failure: 'count' }]), fc.constant('x.parquet')),
)

test('any DAG of the schema has hints about its own tasks and edges, the same each time', () => {
  const drafts = fc.array(fc.record({ operator: operators, params, links: fc.array(fc.nat(), { maxLength: 4 }) }), {
    minLength: 1,
    maxLength: 12,
  })
  fc.assert(
    fc.property(drafts, fc.boolean(), (list, isCyclic) => {
      const tasks = list.map(({ operator, params: given, links }, at) => {
        const among = isCyclic ? list.length : at
        const after = among === 0 ? [] : [...new Set(links.map((link) => `t${link % among}`))]
        return { name: `t${at}`, operator, params: given, after }
      })
      const parsed = assembledDag.safeParse({ format: 1, dag_id: 'any', tasks })
      fc.pre(parsed.success)
      const dag = parsed.data ?? { tasks: [] }
      const found = listHints(dag, { interval_s: 60 })
      expect(found.length).toBeLessThanOrEqual(max_hints)
      for (const { node, edge, category, rule: name } of found) {
        expect(category).toBe(hintRules[name])
        if (edge) expect(dag.tasks.find((each) => each.name === edge.to)?.after).toContain(edge.from)
        else expect(dag.tasks.some((each) => each.name === node)).toBe(true)
      }
      expect(listHints(dag, { interval_s: 60 })).toEqual(found)
    }),
  )
})

test('redundant edges are exactly those that a longer path implies', () => {
  const graphs = fc.array(fc.array(fc.nat(), { maxLength: 5 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(graphs, (links) => {
      const edges = links.map((list, at) => [...new Set(at === 0 ? [] : list.map((to) => to % at))])
      const tasks = edges.map((list, at) =>
        task(
          `t${at}`,
          'notify',
          { title: 'In' },
          list.map((to) => `t${to}`),
        ),
      )
      const reaches = (from: number, to: number): boolean =>
        (edges[from] ?? []).some((next) => next === to || reaches(next, to))
      const expected = edges.flatMap((list, at) =>
        list.some((to) => list.some((other) => reaches(other, to))) ? [`t${at}`] : [],
      )
      const found = listHints({ tasks }).filter((each) => each.rule === 'redundant_edge')
      expect(found.map(({ edge }) => edge?.to)).toEqual(expected)
      for (const { edge } of found) {
        const [from, to] = [edge?.from, edge?.to].map((name) => Number(name?.slice(1)))
        expect(edges[to ?? 0]?.some((other) => reaches(other, from ?? 0))).toBe(true)
      }
    }),
  )
})
