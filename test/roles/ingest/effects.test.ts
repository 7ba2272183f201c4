// Effects on the embedded scheduler: operators that follow each other, from their assembly to a run, and what is refused.
import { expect, test } from 'vitest'
import { list as dagList } from '../../../daemon/roles/ingest/dag/list.ts'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { trigger } from '../../../daemon/roles/ingest/dag-run/trigger.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get as getPipeline } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { list as listPipelines } from '../../../daemon/roles/ingest/datapipeline/list.ts'
import { create } from '../../../daemon/roles/ingest/effect/create.ts'
import { get } from '../../../daemon/roles/ingest/effect/get.ts'
import { list } from '../../../daemon/roles/ingest/effect/list.ts'
import { remove } from '../../../daemon/roles/ingest/effect/remove.ts'
import { run } from '../../../daemon/roles/ingest/effect/run.ts'
import { runs } from '../../../daemon/roles/ingest/effect/runs.ts'
import { status } from '../../../daemon/roles/ingest/effect/status.ts'
import { statuses } from '../../../daemon/roles/ingest/effect/statuses.ts'
import { stop } from '../../../daemon/roles/ingest/effect/stop.ts'
import { update } from '../../../daemon/roles/ingest/effect/update.ts'
import { ingest } from '../../../daemon/roles/ingest/role.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { ingestContent, setUpIngestSite, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

const site = setUpIngestSite()

const ingestOf = (file: string, more: Readonly<Record<string, unknown>> = {}) => ({
  name: 'ingest_file',
  params: { file, ...more },
})

async function waitUntilChecked(person: CheckedClient, uid: string) {
  return await waitUntil(async () => {
    const effect = await person.ok(get, { uid })
    return effect.status !== 'pending_validation' && effect
  })
}

test('operators become a DAG, whose first run suggests the clean-up and deletes nothing', async () => {
  const ann = await site().as()
  site().writeFile('once.csv', 'id\n1\n')
  const created = await ann.ok(create, {
    name: 'once',
    operators: [ingestOf('once.csv')],
    run_on_deploy: true,
    delete_on_success: true,
  })
  expect(created).toMatchObject({ status: 'pending_validation', subtype: 'dataeffect', warnings: [], schedule: null })
  expect(created.dag_id).toMatch(/^effect__[0-9a-f]{32}$/)
  expect(created.uds.visibility).toBe(created.classification.level)
  const { uid, dag_id } = created
  await waitUntilChecked(ann, uid)
  await waitUntilRunOver(ann, dag_id, 'deploy__1')
  const shown = await ann.ok(status, { uid })
  expect(shown).toMatchObject({ status: 'active', cleanup_suggested: true, workflow_next_run: null })
  expect((await ann.ok(runStatus, { dag_id, dag_run_id: 'deploy__1' })).tasks).toMatchObject([
    { task_id: 'ingest_file_1', state: 'success' },
  ])
  expect((await ann.ok(dagList, {})).items.map((each) => each.dag_id)).toContain(dag_id)
  expect((await ann.ok(statuses, {})).items).toContainEqual(shown)
})

test('unknown operators end in error with their names, faults of the check in rejected, and an update leaves both', async () => {
  const ann = await site().as()
  site().writeFile('cured.csv', 'id\n1\n')
  const operators = [ingestOf('cured.csv'), { name: 'ingest_nothing', params: { connection_id: 'cn_1' } }]
  const { uid, warnings } = await ann.ok(create, { name: 'faulty', operators, connections: ['cn_1', 'cn_2'] })
  expect(warnings).toEqual([
    'the site has no connection cn_1',
    'no operator uses the connection cn_2',
    expect.stringContaining('operators.1.name: the catalog has no operator ingest_nothing'),
  ])
  expect(await waitUntilChecked(ann, uid)).toMatchObject({
    status: 'error',
    connections: ['cn_1'],
    fault: { path: 'operators.1.name', reason: expect.stringContaining('ingest_nothing') },
  })
  expect(await ann.refusal(run, { uid })).toBe('wrong_state')
  // A second reader takes no dataset of the one before it.
  await ann.ok(update, { uid, operators: [ingestOf('cured.csv'), ingestOf('cured.csv')] })
  expect(await waitUntilChecked(ann, uid)).toMatchObject({ status: 'rejected', fault: { path: 'operators.1' } })
  await ann.ok(update, { uid, operators: [ingestOf('')] })
  expect(await waitUntilChecked(ann, uid)).toMatchObject({
    status: 'rejected',
    connections: [],
    fault: { path: 'operators.0.params.file' },
  })
  await ann.ok(update, { uid, operators: [ingestOf('cured.csv')] })
  const cured = await waitUntilChecked(ann, uid)
  expect(cured).toMatchObject({ status: 'active' })
  expect(cured.fault).toBeUndefined()
  const { dag_run_id, dag_id } = await ann.ok(run, { uid, conf: { why: 'a test' } })
  expect((await waitUntilRunOver(ann, dag_id, dag_run_id)).state).toBe('success')
})

test('connections of operators are listed once', async () => {
  const ann = await site().as()
  const operators = ['b', 'a', 'b', ''].map((connection_id) => ingestOf('x.csv', { connection_id }))
  expect((await ann.ok(create, { name: 'connected', operators })).connections).toEqual(['b', 'a'])
})

test('runs of a paused effect wait, are stopped, and go with the effect, whose deletion is confirmed', async () => {
  const ann = await site().as()
  const { uid } = await ann.ok(create, { name: 'paused', operators: [ingestOf('people.csv')] })
  await waitUntilChecked(ann, uid)
  expect(await ann.ok(update, { uid, action: 'pause' })).toMatchObject({ status: 'paused' })
  const { dag_run_id } = await ann.ok(run, { uid })
  expect(await ann.refusal(remove, { uid, confirm: true })).toBe('wrong_state')
  expect((await ann.ok(stop, { uid })).items).toMatchObject([{ dag_run_id, state: 'failed' }])
  expect(await ann.ok(runs, { uid })).toMatchObject({ total: 1 })
  expect(await ann.refusal(remove, { uid })).toBe('invalid')
  expect(await ann.ok(get, { uid })).toMatchObject({ name: 'paused' })
  await ann.ok(remove, { uid, confirm: true })
  expect(await ann.refusal(get, { uid })).toBe('not_found')
})

test('schedules are checked, and none goes with a clean-up after one run', async () => {
  const ann = await site().as()
  const effect = { name: 'scheduled', operators: [ingestOf('people.csv')] }
  for (const schedule of ['daily', '*/10 * * * *', '0 99 * * *', '0 0 30 2 *', '* * * * * * *', 'x'.repeat(129)])
    expect(await ann.refusal(create, { ...effect, schedule })).toBe('invalid')
  expect(await ann.refusal(create, { ...effect, schedule: '@daily', delete_on_success: true })).toBe('invalid')
  const once = await ann.ok(create, { ...effect, delete_on_success: true })
  await waitUntilChecked(ann, once.uid)
  expect(await ann.refusal(update, { uid: once.uid, schedule: '@daily' })).toBe('invalid')
  expect(await ann.ok(update, { uid: once.uid, schedule: '' })).toMatchObject({ schedule: null })
  const daily = await ann.ok(create, { ...effect, schedule: '0 3 * * *' })
  expect(daily).toMatchObject({ schedule: '0 3 * * *', timezone: 'UTC', warnings: [] })
  await waitUntilChecked(ann, daily.uid)
  for (const schedule of [null, '']) {
    await ann.ok(update, { uid: daily.uid, schedule: '@daily' })
    const none = { schedule: null, next_scheduled_run: null, status: 'active' }
    expect(await ann.ok(update, { uid: daily.uid, schedule })).toMatchObject(none)
  }
})

test('an effect has from 1 to 200 operators of bounded size', async () => {
  const ann = await site().as()
  const many = (count: number) => ({ name: 'many', operators: Array.from({ length: count }, () => ingestOf('a.csv')) })
  expect(await ann.refusal(create, many(0))).toBe('invalid')
  expect(await ann.refusal(create, many(201))).toBe('invalid')
  expect(await ann.refusal(create, { name: 'large', operators: [ingestOf('a'.repeat(300_000))] })).toBe('too_large')
  const { uid } = await ann.ok(create, many(200))
  expect(await waitUntilChecked(ann, uid)).toMatchObject({ status: 'rejected', fault: { path: 'operators.1' } })
})

test('reads of pipelines exclude effects, and no pipeline takes a DAG of their names', async () => {
  const ann = await site().as()
  const effect = await ann.ok(create, { name: 'apart', operators: [ingestOf('people.csv')] })
  await waitUntilChecked(ann, effect.uid)
  const pipeline = await ann.ok(deploy, { dag_id: 'apart', content: ingestContent('apart', 'people.csv') })
  await waitUntilDeployed(ann, pipeline.uid)
  expect(await ann.refusal(getPipeline, { uid: effect.uid })).toBe('not_found')
  expect(await ann.refusal(get, { uid: pipeline.uid })).toBe('not_found')
  expect((await ann.ok(listPipelines, { limit: 500 })).items.map(({ uid }) => uid)).not.toContain(effect.uid)
  expect((await ann.ok(list, { limit: 500 })).items.map(({ uid }) => uid)).not.toContain(pipeline.uid)
  for (const dag_id of [effect.dag_id, 'intel__e1'])
    expect(await ann.refusal(deploy, { dag_id, content: ingestContent(dag_id, 'people.csv') })).toBe('invalid')
})

test('an effect above the clearance of a caller, or of another tenant, stays hidden and is never run by it', async () => {
  const ann = await site().as()
  const low = await site().as({ subject: 'bob', clearance: { level: 'RESTRICTED' } })
  const other = await site().as({ subject: 'eve', tenant: 'bravo' })
  const operators = [ingestOf('people.csv')]
  expect(await low.refusal(create, { name: 'high', operators, visibility: 'SECRET' })).toBe('label_denied')
  expect(await low.refusal(create, { name: 'high', operators, visibility: 'NONE' })).toBe('invalid')
  const { uid, dag_id } = await ann.ok(create, { name: 'raised', operators, visibility: 'RESTRICTED' })
  await waitUntilChecked(ann, uid)
  expect(await low.ok(get, { uid })).toMatchObject({ uds: { visibility: 'RESTRICTED' } })
  await ann.ok(run, { uid })
  await ann.ok(update, { uid, visibility: 'SECRET' })
  expect(await ann.refusal(update, { uid, visibility: 'RESTRICTED' })).toBe('label_denied')
  for (const person of [low, other]) {
    expect(await person.refusal(get, { uid })).toBe('not_found')
    expect(await person.refusal(runs, { uid })).toBe('not_found')
    expect(await person.refusal(trigger, { dag_id })).toBe('not_found')
    expect((await person.ok(dagList, {})).items.map((each) => each.dag_id)).not.toContain(dag_id)
    expect((await person.ok(statuses, { limit: 500 })).items.map((each) => each.uid)).not.toContain(uid)
  }
  expect(await low.refusal(run, { uid })).toBe('not_found')
  expect(await low.refusal(remove, { uid, confirm: true })).toBe('not_found')
  expect(await other.refusal(run, { uid })).toBe('not_your_tenant')
  expect(await other.refusal(remove, { uid, confirm: true })).toBe('not_your_tenant')
})

test('a first run that is triggered by its deployment leaves no token in any document', async () => {
  const ann = await site().as()
  const { uid, dag_id } = await ann.ok(create, { name: 'auto', operators: [ingestOf('once.csv')], run_on_deploy: true })
  await waitUntilChecked(ann, uid)
  await waitUntilRunOver(ann, dag_id, 'deploy__1')
  const stored: string[] = []
  for (const collection of ingest.collections)
    for (const { value } of (await site().store('ingest').list(collection, { limit: 500 })).docs)
      stored.push(JSON.stringify(value))
  expect(stored.some((text) => text.includes(dag_id))).toBe(true)
  // A token of the site is a JWT, whose header begins so.
  expect(ann.token).toMatch(/^eyJ/)
  expect(stored.filter((text) => text.includes('eyJ') || text.includes(ann.token))).toEqual([])
})
