// Everything that a workflow scheduler must keep, as data: each is run against all of it, through the operations of a site.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { list as dagList } from '../../daemon/roles/ingest/dag/list.ts'
import { errors } from '../../daemon/roles/ingest/dag-run/errors.ts'
import { get as getRun } from '../../daemon/roles/ingest/dag-run/get.ts'
import { list as runList } from '../../daemon/roles/ingest/dag-run/list.ts'
import { remove as removeRun } from '../../daemon/roles/ingest/dag-run/remove.ts'
import { status as runStatus } from '../../daemon/roles/ingest/dag-run/status.ts'
import { trigger } from '../../daemon/roles/ingest/dag-run/trigger.ts'
import { metrics } from '../../daemon/roles/ingest/datapipeline/metrics.ts'
import { remove } from '../../daemon/roles/ingest/datapipeline/remove.ts'
import { run } from '../../daemon/roles/ingest/datapipeline/run.ts'
import { runs } from '../../daemon/roles/ingest/datapipeline/runs.ts'
import { status } from '../../daemon/roles/ingest/datapipeline/status.ts'
import { stop } from '../../daemon/roles/ingest/datapipeline/stop.ts'
import { update } from '../../daemon/roles/ingest/datapipeline/update.ts'
import { health } from '../../daemon/roles/ingest/workflow/health.ts'
import {
  dagContent,
  deployTasks,
  type SchedulerWorld,
  waitFor,
  waitUntilLive,
  waitUntilOver,
} from '../support/ingest/scheduler-world.ts'

type SchedulerRequirement = {
  readonly id: string
  readonly description: string
  readonly verify: (world: SchedulerWorld) => Promise<void>
}

const requirement = (id: string, says: string, holds: SchedulerRequirement['verify']): SchedulerRequirement => ({
  id: `workflow-scheduler/${id}`,
  description: says,
  verify: holds,
})

const read = (file: string, more: object = {}) => ({ name: 'read', operator: 'ingest_file', params: { file }, ...more })
const write = { name: 'out', operator: 'write', params: { file: 'out.csv' }, after: ['read'] }
const select = { name: 'some', operator: 'select', params: { columns: ['id'] }, after: ['read'] }
const people = 'id,name\n1,Ann\n2,Bob\n3,Cat\n'

const tasksOf = async ({ person }: SchedulerWorld, dag_id: string, dag_run_id: string) =>
  (await person.ok(runStatus, { dag_id, dag_run_id })).tasks.toSorted((one, other) =>
    one.task_id < other.task_id ? -1 : 1,
  )
const idsOf = (page: { readonly items: readonly { readonly dag_run_id: string }[] }) =>
  page.items.map(({ dag_run_id }) => dag_run_id)

export const schedulerRequirements: readonly SchedulerRequirement[] = [
  requirement('health', 'answers whether it and its database are healthy', async ({ person }) => {
    expect(await person.ok(health, {})).toMatchObject({ scheduler: 'healthy', metadatabase: 'healthy' })
  }),

  requirement('live', 'has a DAG that was deployed, for its tenant alone, without an interval', async (world) => {
    const { person, stranger } = world
    const uid = await deployTasks(world, 'listed', [read('people.csv')])
    const { items } = await person.ok(dagList, {})
    expect(items).toContainEqual({ dag_id: 'listed', is_paused: false, is_active: true, next_run: null })
    expect(JSON.stringify(await stranger.ok(dagList, {}))).not.toMatch(/listed|pl_/)
    expect(await stranger.refusal(trigger, { dag_id: 'listed' })).toBe('not_found')
    expect(await stranger.refusal(trigger, { dag_id: `listed.${uid}` })).toBe('not_found')
    expect(await person.refusal(trigger, { dag_id: 'unheard' })).toBe('not_found')
    expect(await person.refusal(getRun, { dag_id: 'listed', dag_run_id: 'manual__none' })).toBe('not_found')
    await person.ok(remove, { uid })
    expect(JSON.stringify(await person.ok(dagList, {}))).not.toContain('listed')
  }),

  requirement('run', 'runs tasks in their order, and knows what each took and made', async (world) => {
    const { person, outputs, site } = world
    world.writeFile('people.csv', people)
    const some = {
      ...{ name: 'some', operator: 'filter', after: ['read'] },
      params: { where: { column: 'id', is: 'at_least', value: 2 } },
    }
    const uid = await deployTasks(world, 'chain', [{ ...write, after: ['some'] }, some, read('people.csv')])
    const begun = await person.ok(run, { uid, conf: { why: 'a test' } })
    const { dag_run_id } = begun
    const over = await waitUntilOver(world, 'chain', dag_run_id)
    expect(over).toMatchObject({ dag_id: 'chain', state: 'success', conf: { why: 'a test' } })
    expect(Date.parse(over.end_date ?? '')).toBeGreaterThanOrEqual(Date.parse(over.start_date ?? ''))
    const tasks = await tasksOf(world, 'chain', dag_run_id)
    expect(tasks).toMatchObject([
      { task_id: 'out', state: 'success', try_number: 1, lineage: { file: 'out.csv', rows_in: 2, rows_out: 2 } },
      { task_id: 'read', lineage: { rows_out: 3, rejects: 0, inputs: [{ name: 'people.csv' }] } },
      { task_id: 'some', lineage: { rows_in: 3, rows_out: 2, inputs: [{ name: 'read' }] } },
    ])
    expect(tasks[2]?.lineage?.inputs[0]?.digest).toBe(tasks[1]?.lineage?.digest)
    expect(readFileSync(path.join(outputs, site.tenant, uid, 'out.csv'), 'utf8')).toBe('id,name\n2,Bob\n3,Cat\n')
    expect(await person.ok(status, { uid })).toMatchObject({ status: 'active', last_run: { dag_run_id } })
    expect(await person.ok(errors, { dag_id: 'chain', dag_run_id })).toMatchObject({ items: [] })
  }),

  requirement('metrics', 'is measured once for each run that is over, deleted ones included', async (world) => {
    const { person } = world
    world.writeFile('people.csv', people)
    const uid = await deployTasks(world, 'measured', [{ ...write, after: ['some'] }, select, read('people.csv')])
    const { dag_run_id } = await person.ok(run, { uid })
    const waitForMetrics = async (id: string) =>
      await waitFor(async () => (await person.ok(metrics, { uid })).items.find((each) => each.dag_run_id === id))
    expect(await waitForMetrics(dag_run_id)).toMatchObject({
      ...{ dag_id: 'measured', run_type: 'manual', state: 'success', rows: 3, rejects: 0, tries: 3 },
      ...{ input_bytes: people.length, tasks: { total: 3, success: 3, failed: 0, skipped: 0 } },
    })
    rmSync(path.join(world.files, 'people.csv'))
    const { dag_run_id: failing } = await person.ok(run, { uid })
    expect(await waitForMetrics(failing)).toMatchObject({
      ...{ state: 'failed', rows: 0, bytes: 0, input_bytes: 0, tasks: { total: 3, success: 0, failed: 3 } },
    })
    await person.ok(update, { uid, action: 'pause' })
    const { dag_run_id: deleted } = await person.ok(run, { uid })
    await person.ok(removeRun, { dag_id: 'measured', dag_run_id: deleted })
    expect(await waitForMetrics(deleted)).toMatchObject({ state: 'failed', rows: 0, tries: 0 })
    expect((await person.ok(metrics, { uid })).total).toBe(3)
  }),

  requirement('repeat', 'begins one run for one idempotency key, and lists the newest first', async (world) => {
    const { person } = world
    world.writeFile('people.csv', people)
    const uid = await deployTasks(world, 'repeated', [read('people.csv')])
    await person.ok(update, { uid, action: 'pause' })
    const once = { 'idempotency-key': 'one-run-of-repeated' }
    const [first, again] = await Promise.all([
      person.ok(run, { uid, conf: { at: 1 } }, once),
      person.ok(run, { uid, conf: { at: 1 } }, once),
    ])
    expect(again.dag_run_id).toBe(first.dag_run_id)
    expect(await person.refusal(run, { uid, conf: { at: 2 } }, once)).toBe('idempotency_mismatch')
    const second = await person.ok(run, { uid })
    const both = [second.dag_run_id, first.dag_run_id]
    expect(idsOf(await person.ok(runList, { dag_id: 'repeated', state: 'queued' }))).toEqual(both)
    expect(await person.ok(runs, { uid, limit: 1 })).toMatchObject({
      items: [{ dag_run_id: second.dag_run_id }],
      total_is: 'at_least',
    })
    expect(idsOf(await person.ok(runList, { dag_id: 'repeated', state: 'success' }))).toEqual([])
  }),

  requirement('pause', 'keeps runs of a paused DAG until it is resumed', async (world) => {
    const { person } = world
    world.writeFile('people.csv', people)
    const uid = await deployTasks(world, 'paused', [read('people.csv')])
    expect(await person.ok(update, { uid, action: 'pause' })).toMatchObject({ status: 'paused' })
    const { dag_run_id } = await person.ok(run, { uid })
    expect(await person.ok(dagList, { active_only: true })).not.toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ dag_id: 'paused' })]),
    })
    expect(await person.ok(getRun, { dag_id: 'paused', dag_run_id })).toMatchObject({ state: 'queued' })
    expect(await person.refusal(remove, { uid })).toBe('wrong_state')
    await person.ok(update, { uid, action: 'unpause' })
    expect(await waitUntilOver(world, 'paused', dag_run_id)).toMatchObject({ state: 'success' })
  }),

  requirement('stop', 'ends a run as failed, once, and removes it with its DAG', async (world) => {
    const { person } = world
    world.writeFile('people.csv', people)
    const uid = await deployTasks(world, 'stopped', [read('people.csv')])
    await person.ok(update, { uid, action: 'pause' })
    const { dag_run_id } = await person.ok(run, { uid })
    expect(await person.ok(stop, { uid })).toMatchObject({ items: [{ dag_run_id, state: 'failed' }] })
    expect(await person.ok(stop, { uid })).toMatchObject({ items: [] })
    const other = await person.ok(run, { uid })
    await person.ok(removeRun, { dag_id: 'stopped', dag_run_id: other.dag_run_id })
    expect(await person.refusal(getRun, { dag_id: 'stopped', dag_run_id: other.dag_run_id })).toBe('not_found')
    expect(idsOf(await person.ok(runList, { dag_id: 'stopped' }))).toEqual([dag_run_id])
    await person.ok(remove, { uid })
    const again = await deployTasks(world, 'stopped', [read('people.csv')])
    expect(await person.ok(runs, { uid: again })).toMatchObject({ items: [] })
  }),

  requirement(
    'failure',
    'fails those that wait for a failed task, and keeps its log; no try that cannot succeed',
    async (world) => {
      const { person } = world
      const uid = await deployTasks(world, 'failing', [read('no-such.csv', { retries: 3 }), write])
      const { dag_run_id } = await person.ok(run, { uid })
      expect(await waitUntilOver(world, 'failing', dag_run_id)).toMatchObject({ state: 'failed' })
      expect(await tasksOf(world, 'failing', dag_run_id)).toMatchObject([
        { task_id: 'out', state: 'upstream_failed' },
        { task_id: 'read', state: 'failed', try_number: 1 },
      ])
      const failed = await person.ok(errors, { dag_id: 'failing', dag_run_id })
      expect(failed.items).toMatchObject([{ task_id: 'read', log: expect.stringContaining('does not exist') }])
      expect(await person.ok(status, { uid })).toMatchObject({ last_run: { dag_run_id, state: 'failed' } })
    },
  ),

  requirement('retry', 'tries a task again that may succeed later, and the tasks before it once', async (world) => {
    const { person, outputs, site } = world
    world.writeFile('people.csv', people)
    const uid = await deployTasks(world, 'retried', [read('people.csv'), { ...write, retries: 5 }])
    // A file where the folder of the pipeline belongs.
    mkdirSync(path.join(outputs, site.tenant), { recursive: true })
    const obstacle = path.join(outputs, site.tenant, uid)
    writeFileSync(obstacle, '')
    const { dag_run_id } = await person.ok(run, { uid })
    await waitFor(async () => {
      const [out] = await tasksOf(world, 'retried', dag_run_id)
      return out?.state === 'up_for_retry'
    })
    rmSync(obstacle)
    expect(await waitUntilOver(world, 'retried', dag_run_id)).toMatchObject({ state: 'success' })
    const [out, first] = await tasksOf(world, 'retried', dag_run_id)
    expect(out?.try_number).toBeGreaterThan(1)
    expect(first).toMatchObject({ state: 'success', try_number: 1 })
  }),

  requirement('redeploy', 'runs the newest content', async (world) => {
    const { person } = world
    world.writeFile('people.csv', people)
    world.writeFile('newer.csv', 'id,name\n7,Gus\n')
    const uid = await deployTasks(world, 'renewed', [read('people.csv')])
    await person.ok(update, { uid, content: dagContent('renewed', [read('newer.csv')]) })
    await waitUntilLive(world, uid, 'renewed')
    const { dag_run_id } = await person.ok(run, { uid })
    expect(await waitUntilOver(world, 'renewed', dag_run_id)).toMatchObject({ state: 'success' })
    expect(await tasksOf(world, 'renewed', dag_run_id)).toMatchObject([
      { lineage: { rows_out: 1, inputs: [{ name: 'newer.csv' }] } },
    ])
  }),

  requirement('again', 'runs a former run again by the latest code, with its conf, and names it', async (world) => {
    const { person } = world
    world.writeFile('people.csv', people)
    world.writeFile('newer.csv', 'id,name\n7,Gus\n')
    const uid = await deployTasks(world, 'again', [read('people.csv')])
    const { dag_run_id: former } = await person.ok(run, { uid, conf: { why: 'a test' } })
    await waitUntilOver(world, 'again', former)
    await person.ok(update, { uid, content: dagContent('again', [read('newer.csv')]) })
    await waitUntilLive(world, uid, 'again')
    const repeats = { dag_run_id: former, code: 'latest' } as const
    const once = { 'idempotency-key': 'one-run-again' }
    const { dag_run_id } = await person.ok(trigger, { dag_id: 'again', repeats }, once)
    const over = await waitUntilOver(world, 'again', dag_run_id)
    expect(over).toMatchObject({ state: 'success', conf: { why: 'a test' }, repeats })
    expect(await person.ok(trigger, { dag_id: 'again', repeats }, once)).toEqual(over)
    expect(await tasksOf(world, 'again', dag_run_id)).toMatchObject([{ lineage: { inputs: [{ name: 'newer.csv' }] } }])
    for (const other of [{}, { repeats, conf: { why: 'another' } }, { repeats: { ...repeats, dag_run_id } }])
      expect(await person.refusal(trigger, { dag_id: 'again', ...other }, once)).toBe('idempotency_mismatch')
    const unknown = { ...repeats, dag_run_id: 'manual__none' }
    expect(await person.refusal(trigger, { dag_id: 'again', repeats: unknown })).toBe('not_found')
    await person.ok(removeRun, { dag_id: 'again', dag_run_id: former })
    expect(await person.ok(run, { uid, repeats: { ...repeats, dag_run_id }, conf: {} })).toMatchObject({ conf: {} })
    expect(await person.ok(trigger, { dag_id: 'again', repeats }, once)).toEqual(over)
  }),
]
