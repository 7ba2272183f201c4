// The ways in which a run ends before it is through, and what it leaves.
import * as fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import { retryLater } from '../../../daemon/kernel/job/rules.ts'
import { extract } from '../../../daemon/roles/resolution/fusion/extract.ts'
import { match } from '../../../daemon/roles/resolution/fusion/match.ts'
import { resolve } from '../../../daemon/roles/resolution/fusion/resolve.ts'
import { cancel } from '../../../daemon/roles/resolution/fusion-run/cancel.ts'
import { get } from '../../../daemon/roles/resolution/fusion-run/get.ts'
import { list as runs } from '../../../daemon/roles/resolution/fusion-run/list.ts'
import { fusionRuns, type StoredRun } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite({ inline_records: 5_000 })

async function createPersonWithLens(lens = 'people') {
  const ann = await world().as()
  await ann.ok(create, { body: { ...buildPersonLens(), lens } })
  return ann
}

const small = { lens_id: 'people', node_data: { east: buildPeople(0, 20), west: buildPeople(10, 30) } }
const large = { lens_id: 'people', node_data: { east: buildPeople(0, 5_000) } }

const formatRunFolder = (run_id: string) => path.join(world().folder.data, 'resolution/runs', run_id)

test('runs wait for each other, and each can be cancelled: the one that works, and the one that waits', async () => {
  const ann = await createPersonWithLens()
  const working = (await ann.ok(start, large)).run_id
  const waiting = (await ann.ok(start, small)).run_id
  const cancelled = (await ann.ok(start, small)).run_id
  await waitUntil(async () => (await ann.ok(status, { run_id: working })).state !== 'pending')
  expect((await ann.ok(status, { run_id: waiting })).state).toBe('pending')
  expect(await ann.ok(cancel, { run_id: cancelled })).toMatchObject({ state: 'cancelled' })
  expect(await ann.ok(cancel, { run_id: working })).toMatchObject({ state: 'cancelled', ended_at: expect.any(String) })
  expect(await waitForRunEnd(ann, waiting)).toMatchObject({ state: 'completed' })
  for (const run_id of [working, cancelled]) {
    expect((await ann.ok(status, { run_id })).state).toBe('cancelled')
    world().wakeWorker('resolution', 'files')
    await waitUntil(() => !fs.existsSync(formatRunFolder(run_id)))
    expect(await ann.refusal(match, { run_id })).toBe('wrong_state')
  }
  expect(fs.existsSync(formatRunFolder(waiting))).toBe(true)
})

test('starts, ends and cancellations are in the audit of the run’s tenant', async () => {
  const ann = await createPersonWithLens()
  const { run_id } = await ann.ok(extract, small)
  await waitUntil(async () => (await ann.ok(status, { run_id })).state === 'extracted')
  await ann.ok(cancel, { run_id })
  const token = await world().token({ roles: ['auditor'] })
  const { json } = await world().call('resolution', 'GET', `/api/v2/audit?target=${run_id}`, undefined, { token })
  const items = (json as { items: { event: AuditEvent }[] }).items.map(({ event }) => event)
  expect(items.map(({ action }) => action.replace('resolution.fusion-run.', ''))).toEqual([
    'cancel',
    'extract-done',
    'extract-begun',
    'start',
  ])
  expect(items[0]).toMatchObject({ subject: 'ann', detail: { from: 'extracted', to: 'cancelled' } })
})

test('an orderly restart takes a run up again', async () => {
  const ann = await createPersonWithLens()
  const { run_id } = await ann.ok(start, {
    lens_id: 'people',
    node_data: { east: buildPeople(0, 120) },
    accept_poor: true,
  })
  await waitUntil(async () => (await ann.ok(status, { run_id })).state !== 'pending')
  await world().restart()
  expect(await waitForRunEnd(await world().as(), run_id)).toMatchObject({
    state: 'completed',
    counts: { records: 120 },
  })
})

test.each([
  ['ids that are missing', [{ id: '', surname: 'a', given_name: 'b' }], /1 record has no id \(1\): fill them/],
  ['ids that come twice', [1, 1].map((id) => ({ id, surname: 'a', given_name: 'b' })), /both have the id "1"/],
  ['columns that the lens wants and nobody has', [{ id: 1, colour: 'red' }], /no column for given_name/],
])('%s fail the run, and it says so', async (_, records, reason) => {
  const ann = await createPersonWithLens()
  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data: { east: records }, accept_poor: true })
  const run = await waitForRunEnd(ann, run_id)
  expect(run).toMatchObject({ state: 'failed', failure: { code: 'invalid', reason: expect.stringMatching(reason) } })
})

test('a run whose work is put off says why, and when it is tried again', async () => {
  const ann = await createPersonWithLens()
  const { run_id } = await ann.ok(extract, small)
  await waitUntil(async () => (await ann.ok(status, { run_id })).state === 'extracted')
  expect(await ann.ok(get, { uid: run_id })).not.toHaveProperty('delay')
  const failure = { code: 'unavailable', reason: 'the role site does not answer' }
  const due = { now_ms: world().clock.now() + 3_600_000, waits: { first_ms: 1_000, longest_ms: 1_000 }, chance: 0 }
  await world()
    .store('resolution')
    .update(fusionRuns, run_id, ({ value }) => ({
      next: retryLater(value, failure, due) as StoredRun,
      answer: undefined,
    }))
  const next_attempt_at = new Date(due.now_ms + 1_000).toISOString()
  for (const shown of [await ann.ok(get, { uid: run_id }), await ann.ok(status, { run_id })])
    expect(shown).toMatchObject({ state: 'extracted', delay: { failure, failures: 1, next_attempt_at } })
  await ann.ok(cancel, { run_id })
  expect(await ann.ok(get, { uid: run_id })).not.toHaveProperty('delay')
})

test('another column may name the records', async () => {
  const ann = await createPersonWithLens('by-key')
  const east = buildPeople(0, 20).map(({ id, ...more }) => ({ key: id, ...more }))
  const { run_id } = await ann.ok(start, { lens_id: 'by-key', node_data: { east }, id_field: 'key', accept_poor: true })
  expect(await waitForRunEnd(ann, run_id)).toMatchObject({
    state: 'completed',
    id_field: 'key',
    counts: { records: 20 },
  })
})

test('a run whose files are gone fails, and says so', async () => {
  const ann = await createPersonWithLens()
  const { run_id } = await ann.ok(extract, small)
  await waitUntil(async () => (await ann.ok(status, { run_id })).state === 'extracted')
  fs.rmSync(formatRunFolder(run_id), { recursive: true })
  const { run, items } = await ann.ok(match, { run_id })
  expect([run.state, run.failure?.reason, items]).toEqual(['failed', 'the files of the run are gone', []])
})

test('a threshold draws the line elsewhere', async () => {
  // Entities of a lens outlive runs: with one of its own there are none but those of this run.
  const ann = await createPersonWithLens('drawn-anew')
  const { run_id } = await ann.ok(extract, { ...small, lens_id: 'drawn-anew' })
  expect((await ann.ok(match, { run_id })).run).toMatchObject({ state: 'matched', scale: 'log_odds' })
  const { run, items } = await ann.ok(resolve, { run_id, threshold: 900 })
  expect([run.state, run.threshold, items]).toEqual(['completed', 900, []])
  expect(await ann.refusal(resolve, { run_id, threshold: 1 })).toBe('wrong_state')
})

test.each([
  ['exchange', { privacy: 'psi' as const }],
  ['exchange', { privacy: 'clk' as const }],
  ['node_data', { node_data: { east: buildPeople(0, 5_001) } }],
  ['node_data.east.file', { node_data: { east: { file: 'east.csv' } } }],
  ['node_data', { node_data: {} }],
  ['node_data.east', { node_data: { east: [] } }],
])('a run that lacks its %s, or has a wrong one, is refused and not made', async (at, more) => {
  const ann = await createPersonWithLens()
  const before = (await ann.ok(runs, { limit: 500 })).items.length
  const { status: code, problem } = await ann.call(start, { ...small, ...more })
  expect(code).toBe(422)
  expect(problem?.errors[0]?.path).toBe(at)
  expect((await ann.ok(runs, { limit: 500 })).items).toHaveLength(before)
})

test('a lens is named by uid or name, and by version or the newest', async () => {
  const ann = await createPersonWithLens()
  const second = await ann.ok(create, { body: buildPersonLens('1.10.0') })
  await ann.ok(create, { body: buildPersonLens('1.9.0') })
  const versionOf = async (more: { lens_id: string; lens_version?: string }) =>
    (await ann.ok(extract, { ...small, ...more })).lens_version
  expect(await versionOf({ lens_id: 'people' })).toBe('1.10.0')
  expect(await versionOf({ lens_id: 'people', lens_version: '1.9.0' })).toBe('1.9.0')
  expect(await versionOf({ lens_id: second.uid })).toBe('1.10.0')
  expect(await versionOf({ lens_id: second.uid, lens_version: '1.0.0' })).toBe('1.0.0')
  expect(await ann.refusal(extract, { ...small, lens_version: '9.9.9' })).toBe('not_found')
})
