// Limits of runs: the number of one tenant at a time, the days of waiting, and no unknown files.
import * as fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { list as listMatches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import { extract } from '../../../daemon/roles/resolution/fusion/extract.ts'
import { match } from '../../../daemon/roles/resolution/fusion/match.ts'
import { cancel } from '../../../daemon/roles/resolution/fusion-run/cancel.ts'
import { fusionRuns, type StoredRun } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { summary } from '../../../daemon/roles/resolution/fusion-run/summary.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const day_ms = 86_400_000
const world = setUpResolutionSite({ runs_per_tenant: 3, wait_days: 2, max_matches: 5 })
const small = { lens_id: 'people', node_data: { east: buildPeople(0, 20) }, accept_poor: true }
const formatRunsFolder = () => path.join(world().folder.data, 'resolution/runs')
const hasFiles = (run_id: string) => fs.existsSync(path.join(formatRunsFolder(), run_id))

async function createTenantPerson(tenant: string): Promise<CheckedClient> {
  const ann = await world().as({ tenant, lifetime_s: 30 * 86_400 })
  await ann.ok(create, { body: buildPersonLens() })
  return ann
}

const waitForState = (person: CheckedClient, run_id: string, state: string) =>
  waitUntil(async () => (await person.ok(status, { run_id })).state === state)

test('a run that nobody asks for more ends after its days, says so, and its files go', async () => {
  const ann = await createTenantPerson('waiting')
  const extracted = (await ann.ok(extract, small)).run_id
  const matched = (await ann.ok(extract, { ...small, seed: 2 })).run_id
  await waitForState(ann, extracted, 'extracted')
  expect((await ann.ok(match, { run_id: matched })).run.state).toBe('matched')
  world().clock.advance(day_ms)
  const extraction = (await ann.ok(extract, { ...small, seed: 3 })).run_id
  await waitForState(ann, extraction, 'extracted')
  world().clock.advance(day_ms)
  world().wakeWorker('resolution', 'files')
  for (const [run_id, state] of [
    [extracted, 'extracted'],
    [matched, 'matched'],
  ] as const) {
    await waitForState(ann, run_id, 'failed')
    expect(await ann.ok(status, { run_id })).toMatchObject({
      failure: { code: 'expired', reason: `the run was ${state}, and its next phase was not requested within 2 days` },
    })
    await waitUntil(() => !hasFiles(run_id))
  }
  expect((await ann.ok(status, { run_id: extraction })).state).toBe('extracted')
  expect(hasFiles(extraction)).toBe(true)
  expect(await ann.refusal(match, { run_id: matched })).toBe('wrong_state')
})

test('of many requests at once no more are taken than a tenant may have, and others are not in the way', async () => {
  const [ann, other] = [await createTenantPerson('crowded'), await createTenantPerson('elsewhere')]
  const answers = await Promise.all(Array.from({ length: 8 }, (_, seed) => ann.call(extract, { ...small, seed })))
  const taken = answers.flatMap(({ value }) => value ?? [])
  expect(taken).toHaveLength(3)
  const refused = answers.find(({ problem }) => problem)
  expect(refused?.problem).toMatchObject({
    code: 'rate_limited',
    detail: '3 runs of this tenant are open, which is the limit: wait until some end, or cancel some',
  })
  expect(fs.readdirSync(formatRunsFolder()).filter((id) => taken.some(({ run_id }) => run_id === id))).toHaveLength(3)
  await other.ok(extract, small)
  for (const { run_id } of taken) await waitForState(ann, run_id, 'extracted')
  expect(await ann.refusal(extract, { ...small, seed: 9 })).toBe('rate_limited')
  await ann.ok(cancel, { run_id: taken[0]?.run_id ?? '' })
  expect(await ann.ok(extract, { ...small, seed: 9 })).toMatchObject({ goal: 'extracted' })
})

test('large runs count as well, although few of them fill a page', async () => {
  const ann = await createTenantPerson('large')
  const [store, { run_id }] = [world().store('resolution'), await ann.ok(extract, small)]
  await waitForState(ann, run_id, 'extracted')
  await ann.ok(cancel, { run_id })
  const value = (await store.get(fusionRuns, run_id))?.value as StoredRun
  const sources = Array.from({ length: 20_000 }, (_, at) => ({ node_id: `${at}`.padStart(100, 'n') }))
  for (const id of ['run_1', 'run_2', 'run_3'])
    await store.create(fusionRuns, id, { ...value, state: 'extracted' as const, sources })
  expect(await ann.refusal(extract, { ...small, seed: 9 })).toBe('rate_limited')
})

test('records of many different columns are refused, since each is stored with all of them', async () => {
  const ann = await createTenantPerson('wide')
  const records = Array.from({ length: 1_100 }, (_, at) => ({ id: `r${at}`, [`column ${at}`]: 'x' }))
  const { problem } = await ann.call(extract, { lens_id: 'people', node_data: { east: records } })
  expect(problem).toMatchObject({
    code: 'invalid',
    errors: [{ path: 'node_data.east', message: expect.stringContaining('more than 1024 different columns') }],
  })
  const some = await ann.call(extract, { lens_id: 'people', node_data: { east: records.slice(0, 1_000) } })
  expect(some.problem).toBeUndefined()
})

test('more values than a request may have are refused before they are parsed, with the way that has no such limit', async () => {
  const ann = await createTenantPerson('many')
  const { status: code, problem } = await ann.call(extract, {
    lens_id: 'people',
    node_data: { east: buildPeople(0, 6_100) },
  })
  expect([code, problem?.code]).toEqual([413, 'too_large'])
  expect(problem?.detail).toContain('more than 30000 values')
  expect(problem?.detail).toContain('name a data file')
})

test('a request that is repeated finds its run, however many there are', async () => {
  const ann = await createTenantPerson('repeating')
  const headers = { 'idempotency-key': 'the-same' }
  const both = await Promise.all([ann.ok(extract, small, headers), ann.ok(extract, small, headers)])
  expect(new Set(both.map(({ run_id }) => run_id)).size).toBe(1)
  for (const seed of [2, 3]) await ann.ok(extract, { ...small, seed })
  expect((await ann.ok(extract, small, headers)).run_id).toBe(both[0]?.run_id)
})

test('a run that finds more matches than are stored keeps the best, says how many it left out, and all entities', async () => {
  const ann = await createTenantPerson('cut')
  const node_data = { east: buildPeople(0, 20), west: buildPeople(0, 20) }
  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data })
  const run = await waitForRunEnd(ann, run_id)
  expect(run).toMatchObject({ state: 'completed', counts: { matches: 5, entities: 20, clusters: 20 } })
  expect(run.left_out).toEqual([{ what: 'matches', count: expect.any(Number), limit: 5 }])
  expect(run.left_out?.[0]?.count).toBeGreaterThanOrEqual(15)
  const { items } = await ann.ok(listMatches, { run_id, limit: 500 })
  expect(items.map(({ linked }) => linked)).toEqual([true, true, true, true, true])
  const { text } = await ann.ok(summary, { run_id })
  expect(text).toContain('matches with the lowest scores are not stored, since resolution.max_matches is 5')
})

test('files that no run knows of are gone after a start', async () => {
  await world().stop()
  fs.mkdirSync(path.join(formatRunsFolder(), 'run_of_nobody'), { recursive: true })
  fs.writeFileSync(path.join(formatRunsFolder(), 'run_of_nobody', '0.csv'), 'id\n1\n')
  fs.writeFileSync(path.join(formatRunsFolder(), 'unexpected'), 'x')
  await world().start()
  await waitUntil(() => !hasFiles('run_of_nobody') && !hasFiles('unexpected'))
})
