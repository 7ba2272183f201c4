// A failed run raises one signal: however it began, whatever process ends in between, and under its own label.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { remove as removeRun } from '../../../daemon/roles/ingest/dag-run/remove.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get as getPipeline } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { stop } from '../../../daemon/roles/ingest/datapipeline/stop.ts'
import { update } from '../../../daemon/roles/ingest/datapipeline/update.ts'
import { pipelineSchedules } from '../../../daemon/roles/ingest/datapipeline-schedule/model.ts'
import { create as createEffect } from '../../../daemon/roles/ingest/effect/create.ts'
import { runs as runsOfEffect } from '../../../daemon/roles/ingest/effect/runs.ts'
import { dagRuns } from '../../../daemon/roles/ingest/runner/model.ts'
import { list as listSignals } from '../../../daemon/roles/intelligence/signal/list.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  ingestContent,
  setUpIngestSite,
  waitUntilDeployed,
  waitUntilEffectDeployed,
  waitUntilRunOver,
} from './ingest-site.ts'

const events: [event: string, fields: Readonly<Record<string, unknown>>][] = []
const site = setUpIngestSite(
  { landing_settle_s: 0 },
  {
    profile: {
      platform: { roles: ['site', 'ingest', 'intelligence'] },
      intelligence: { port: 0 },
      intake: { failed_pipeline: { severity: 'high', classification: 'RESTRICTED' } },
    },
    onEvent: (event, fields) => events.push([event, fields]),
  },
)

const absent = (dag_id: string) => ingestContent(dag_id, 'absent.csv', { retries: 0 })

/** Deploys a pipeline whose file is not there. */
async function deployFailing(person: CheckedClient, dag_id: string, more: object = {}): Promise<string> {
  const { uid } = await person.ok(deploy, { dag_id, content: absent(dag_id), ...more })
  await waitUntilDeployed(person, uid)
  return uid
}

const signalsAbout = async (person: CheckedClient, subject_id: string) =>
  (await person.ok(listSignals, { subject_id, limit: 500 })).items

const findStored = async (id: string) => (await site().store('ingest').get(dagRuns, id))?.value

/** Waits until the run is over and bears no mark. */
async function waitUntilSettled(id: string): Promise<void> {
  await waitUntil(async () => {
    const found = await findStored(id)
    return found?.ended_at !== undefined && found.unsignalled === undefined
  })
}

test('each failed run raises one signal, with its tasks and no line of their logs, as the profile grades it', async () => {
  const ann = await site().as()
  const uid = await deployFailing(ann, 'failing', { run_on_deploy: true })
  await waitUntilSettled(`${uid}.deploy__1`)
  const [signal, ...more] = await signalsAbout(ann, uid)
  expect(more).toEqual([])
  expect(signal).toMatchObject({
    ...{ signal_type: 'failed_pipeline', severity: 'high', title: 'A run of the pipeline failing failed' },
    subject: { type: 'asset', id: uid, name: 'failing' },
    description: 'Run: deploy__1.\nFailed tasks: read (tries: 1). Their logs say why.',
    source: { type: 'internal', name: 'failed_pipeline' },
    actor: { type: 'service', id: 'site', name: 'alpha' },
    ...{ tenant_id: site().tenant, classification: { level: 'RESTRICTED' } },
    detected_at: (await findStored(`${uid}.deploy__1`))?.ended_at,
  })
  const { dag_run_id } = await ann.ok(run, { uid })
  await waitUntilSettled(`${uid}.${dag_run_id}`)
  expect(await signalsAbout(ann, uid)).toHaveLength(2)
})

test('a scheduled run of an effect that fails raises one too', async () => {
  const ann = await site().as()
  const operators = [{ name: 'ingest_file', params: { file: 'absent.csv' }, retries: 0 }]
  const { uid } = await ann.ok(createEffect, { name: 'an effect', operators, schedule: '0 3 * * *' })
  // A time that passes before the effect is live is left out.
  await waitUntilEffectDeployed(ann, uid)
  const due = (await site().store('ingest').get(pipelineSchedules, uid))?.value.next_ts ?? Number.NaN
  site().clock.advance(due + 1 - site().clock.now())
  const found = await waitUntil(async () => {
    site().wakeWorker('ingest', 'jobs')
    return (await ann.ok(runsOfEffect, { uid })).items[0]
  })
  await waitUntilSettled(`${uid}.${found.dag_run_id}`)
  expect(await signalsAbout(ann, uid)).toMatchObject([
    { title: `A run of the effect ${found.dag_id} failed`, subject: { id: uid } },
  ])
})

test('a run of a landing zone that fails raises one too', async () => {
  const ann = await site().as()
  const task = { name: 'land', operator: 'ingest_landing_zone', retries: 0 }
  const content = JSON.stringify({ format: 1, dag_id: 'carried', tasks: [task] })
  const { uid } = await ann.ok(deploy, { dag_id: 'carried', content })
  await waitUntilDeployed(ann, uid)
  const folder = path.join(site().folder.data, 'ingest/landing', site().tenant, uid, 'new')
  writeFileSync(path.join(folder, 'rows.csv'), 'a,b\n1\n')
  await waitUntil(async () => {
    site().clock.advance(1_000)
    for (const worker of ['landing-zones', 'jobs']) site().wakeWorker('ingest', worker)
    return (await ann.ok(getPipeline, { uid })).landing_zone?.quarantined === 1
  })
  const { docs } = await site()
    .store('ingest')
    .list(dagRuns, { filter: { pipeline: uid }, limit: 9 })
  await waitUntilSettled(docs[0]?.id ?? '')
  expect(docs).toHaveLength(1)
  expect(await signalsAbout(ann, uid)).toMatchObject([{ title: 'A run of the pipeline carried failed' }])
})

test('a run that succeeds, and one that a person stops, raise none', async () => {
  const ann = await site().as()
  site().writeFile('good.csv', 'a\n1\n')
  const content = ingestContent('good', 'good.csv')
  const { uid } = await ann.ok(deploy, { dag_id: 'good', content, run_on_deploy: true })
  await waitUntilDeployed(ann, uid)
  expect((await waitUntilRunOver(ann, 'good', 'deploy__1')).state).toBe('success')
  await ann.ok(update, { uid, action: 'pause' })
  const { dag_run_id } = await ann.ok(run, { uid })
  await ann.ok(stop, { uid })
  expect(await findStored(`${uid}.${dag_run_id}`)).toMatchObject({ state: 'failed', reason: 'it was stopped' })
  for (const name of ['deploy__1', dag_run_id])
    expect((await findStored(`${uid}.${name}`))?.unsignalled).toBe(undefined)
  expect(await signalsAbout(ann, uid)).toEqual([])
})

test('a signal has the label and tenant of its run: nobody below or elsewhere sees it', async () => {
  const ann = await site().as()
  const uid = await deployFailing(ann, 'secret', { run_on_deploy: true, classification: { level: 'SECRET' } })
  await waitUntilSettled(`${uid}.deploy__1`)
  expect(await signalsAbout(ann, uid)).toMatchObject([{ classification: { level: 'SECRET' } }])
  const low = await site().as({ subject: 'bob', clearance: { level: 'RESTRICTED' } })
  const other = await site().as({ subject: 'eve', tenant: 'bravo' })
  for (const person of [low, other]) expect(await signalsAbout(person, uid)).toEqual([])
})

test('a crash before or after the signal leads to one signal', async () => {
  const ann = await site().as()
  const uid = await deployFailing(ann, 'crashed', { run_on_deploy: true })
  const id = `${uid}.deploy__1`
  await waitUntilSettled(id)
  // As a process leaves it that ends before the mark is cleared.
  await site()
    .store('ingest')
    .update(dagRuns, id, ({ value }) => ({ next: { ...value, unsignalled: 1 as const }, answer: undefined }))
  await site().restart()
  site().wakeWorker('ingest', 'failure-signals')
  await waitUntilSettled(id)
  expect(await signalsAbout(await site().as(), uid)).toHaveLength(1)
})

test('a run that is deleted at once raises its signal, and another one under its id raises another', async () => {
  const ann = await site().as()
  const uid = await deployFailing(ann, 'deleted')
  for (const count of [1, 2]) {
    await ann.ok(run, { uid }, { 'idempotency-key': `run-${count}` })
    const { dag_run_id } = await waitUntil(async () => {
      const { docs } = await site()
        .store('ingest')
        .list(dagRuns, { filter: { pipeline: uid }, limit: 9 })
      return docs[0]?.value.ended_at !== undefined && docs[0].value
    })
    await ann.ok(removeRun, { dag_id: 'deleted', dag_run_id })
    expect(await signalsAbout(ann, uid)).toHaveLength(count)
    site().clock.advance(1_000)
  }
})

test('a label that the site has no join for is logged as an error, and holds up no other run', async () => {
  const ann = await site().as()
  const uid = await deployFailing(ann, 'unlabelled', { run_on_deploy: true })
  const id = `${uid}.deploy__1`
  await waitUntilSettled(id)
  const before = await signalsAbout(ann, uid)
  // As an administrator leaves it who removes a level from the policy.
  await site()
    .store('ingest')
    .update(dagRuns, id, ({ value }) => {
      const label = { ...value.label, level: 'COSMIC' }
      return { next: { ...value, label, unsignalled: 1 as const }, answer: undefined }
    })
  site().wakeWorker('ingest', 'failure-signals')
  await waitUntilSettled(id)
  expect(await signalsAbout(ann, uid)).toEqual(before)
  const refused = events.filter(([event]) => event === 'ingest.run.unsignalled')
  expect(refused).toMatchObject([[expect.anything(), { run: id, dag_id: 'unlabelled', code: 'label_denied' }]])
  expect(site().loggedErrors).toHaveLength(1)
  const next = await deployFailing(ann, 'next', { run_on_deploy: true })
  await waitUntilSettled(`${next}.deploy__1`)
  expect(await signalsAbout(ann, next)).toHaveLength(1)
})
