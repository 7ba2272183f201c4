// The table of operators against the catalog of ingest, and the workflows that the project ships as examples: their hints are judged here by name.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { deployBranches } from '../../../cli/demo/branches.ts'
import type { DemoSite } from '../../../cli/demo/demo-site.ts'
import { assembleDraft } from '../../../daemon/roles/gateway/guide/workflow/draft.ts'
import { hintRules } from '../../../daemon/roles/gateway/guide/workflow/hint.ts'
import { listHints } from '../../../daemon/roles/gateway/guide/workflow/hints.ts'
import { operatorTraits } from '../../../daemon/roles/gateway/guide/workflow/operator-traits.ts'
import { readsNewRows } from '../../../daemon/roles/gateway/guide/workflow/task-params.ts'
import { WorkflowGraph } from '../../../daemon/roles/gateway/guide/workflow/workflow-graph.ts'
import { renderJourney } from '../../../daemon/roles/ingest/journey-test/render-journey.ts'
import { listDagFaults, operators } from '../../../daemon/roles/ingest/operator/catalog.ts'
import { isIncremental } from '../../../daemon/roles/ingest/operator/incremental-task.ts'
import { templates } from '../../../daemon/roles/ingest/template/catalog.ts'
import { assembledDag } from '../../../daemon/shared/assembled-dag/assembled-dag.ts'
import { effectOperator } from '../../../daemon/shared/assembled-dag/operator-chain.ts'
import { expectNone } from '../../support/repository/expect-none.ts'
import { listRepositoryFiles } from '../../support/repository/source-tree.ts'

const hour_s = 3_600
const hintsOf = (dag: unknown, interval_s?: number) =>
  listHints(assembledDag.parse(dag), { interval_s }).map(({ rule, node, edge }) => `${rule} ${node ?? edge?.to}`)

test('each operator of the catalog has its traits, with the same datasets', () => {
  const known = operators.map(({ name, inputs, makes_dataset }) => [name, { inputs, makes_dataset }])
  const table = [...operatorTraits].map(([name, { inputs, makes_dataset }]) => [name, { inputs, makes_dataset }])
  expect(Object.fromEntries(table)).toEqual(Object.fromEntries(known))
})

/** Parameters of a first task for each template, as its documentation has them. */
const sources: Readonly<Record<string, object>> = {
  ingest_file: { file: 'orders.csv' },
  ingest_database: { connection_id: 'conn_1', table: 'people', cursor_column: 'updated_at' },
  ingest_landing_zone: { max_rejects: 10 },
  ingest_http: { source: 'prices', path: 'today.csv' },
  ingest_objects: { connection_id: 'conn_1', prefix: '2026/', pattern: '**/*.csv', only_new: true },
  ingest_queue: { connection_id: 'conn_1', properties: ['message_id'] },
}

test('a source alone, as each template begins, has no hints on a schedule of each hour', () => {
  const names = templates.map(({ name }) => name).filter((name) => name.startsWith('ingest_'))
  expect(Object.keys(sources).sort()).toEqual(names.sort())
  for (const [operator, params] of Object.entries(sources)) {
    const dag = { format: 1, dag_id: 'example', tasks: [{ name: 'read', operator, params }] }
    expect(listDagFaults(assembledDag.parse(dag))).toEqual([])
    expect(hintsOf(dag, hour_s), operator).toEqual([])
  }
})

test('whether a read is of what is new is decided as ingest does', () => {
  const more = [{ cursor_column: 'id' }, { only_new: true }, {}]
  for (const [operator, params] of Object.entries(sources))
    for (const changes of more) {
      const task = { name: 'read', operator, params: { connection_id: 'conn_1', ...params, ...changes } }
      const [read] = WorkflowGraph.open(assembledDag.parse({ format: 1, dag_id: 'd', tasks: [task] }))?.tasks ?? []
      if (read && operators.find(({ name }) => name === operator)?.params.safeParse(read.task.params).success)
        expect(readsNewRows(read), JSON.stringify(task)).toBe(isIncremental(read.task))
    }
})

type JsonObject = Readonly<Record<string, unknown>>

/** Blocks of JSON, and single lines of it, in the documents. */
function listDocumentedValues(): { file: string; value: JsonObject }[] {
  const files = listRepositoryFiles().filter((file) => /^docs\/[^/]+\.md$/.test(file))
  return files.flatMap((file) => {
    const page = readFileSync(file, 'utf8')
    const texts = [
      ...[...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = '']) => text),
      ...[...page.matchAll(/^ {4}(\{"name".*\})$/gm)].map(([, text = '']) => text),
    ]
    return texts.flatMap((text) => {
      try {
        return [{ file, value: JSON.parse(text) }]
      } catch {
        return []
      }
    })
  })
}

const documented = listDocumentedValues()

test('the workflows of the documents have no hints', () => {
  const dags = documented.flatMap(({ file, value }) => {
    const dag = 'hops' in value ? renderJourney(JSON.stringify(value)) : { dag: value }
    const parsed = assembledDag.safeParse(dag && 'dag' in dag ? dag.dag : undefined)
    return parsed.success ? [{ file, dag: parsed.data }] : []
  })
  // orders, a landing zone, a journey.
  expect(new Set(dags.map(({ dag }) => dag.dag_id))).toEqual(new Set(['orders', 'signal_journey']))
  for (const { file, dag } of dags) {
    expect(hintsOf(dag), file).toEqual([])
    expect(hintsOf(dag, hour_s), file).toEqual([])
  }
})

test('the page on hints names each rule, and shows what the gateway answers', () => {
  const page = readFileSync('docs/workflow-hints.md', 'utf8')
  for (const rule of Object.keys(hintRules)) expect(page).toContain(`\`${rule}\``)
  const [, request = ''] = /-d '([\s\S]*?)'\n/.exec(page) ?? []
  const [, answer = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? []
  const { operators: given } = z.object({ operators: z.array(effectOperator) }).parse(JSON.parse(request))
  expect({ hints: listHints(assembleDraft(given)) }).toEqual(JSON.parse(answer))
})

/** Hints on single tasks of the documents on a daily schedule, each of which the page itself leads to. */
const taskHints: Readonly<Record<string, readonly string[]>> = {
  // The pages show these reads first, and then "Read what is new" in place of them.
  people: ['full_read_each_run read'],
  'person:*': ['full_read_each_run read'],
}

test('single tasks of the documents have the hints that are named here', () => {
  const tasks = documented.filter(({ value }) => typeof value.operator === 'string' && value.after === undefined)
  expect(tasks.length).toBeGreaterThan(7)
  const wrong = tasks.flatMap(({ file, value }) => {
    const params = value.params as JsonObject
    const found = hintsOf({ format: 1, dag_id: 'd', tasks: [value] }, 24 * hour_s)
    const expected = params.cursor_column === undefined ? (taskHints[String(params.table)] ?? []) : []
    return JSON.stringify(found) === JSON.stringify(expected) ? [] : [`${file}: ${JSON.stringify(value)}: ${found}`]
  })
  expectNone(wrong)
})

test('the pipeline of the demo has no hints', async () => {
  const sent: { address: string; body: JsonObject }[] = []
  const client = {
    async call(address: string, body: JsonObject) {
      sent.push({ address, body })
      return { uid: 'conn_1' }
    },
  }
  await deployBranches({ analyst: client, operator: client } as unknown as DemoSite)
  const content = sent.find(({ address }) => address === 'ingest.datapipeline.deploy')?.body.content
  expect(hintsOf(JSON.parse(String(content)))).toEqual([])
  expect(hintsOf(JSON.parse(String(content)), hour_s)).toEqual([])
})
