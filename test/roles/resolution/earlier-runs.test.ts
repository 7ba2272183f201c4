// Runs that a version without jobs stored, before the service has settled them: each is shown and changed like any other.
import { expect, test } from 'vitest'
import * as z from 'zod'
import { collection } from '../../../daemon/kernel/store/store.ts'
import { resolve } from '../../../daemon/roles/resolution/fusion/resolve.ts'
import { cancel } from '../../../daemon/roles/resolution/fusion-run/cancel.ts'
import { get } from '../../../daemon/roles/resolution/fusion-run/get.ts'
import { list } from '../../../daemon/roles/resolution/fusion-run/list.ts'
import { fusionRuns, type RunState } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite()
const earlierRuns = collection({
  name: fusionRuns.name,
  indexes: [],
  schema: z.looseObject({ tenant_id: z.string() }),
})

let count = 0

/** Stores a run as the earlier version did: `owes` and `attempts` in place of a job. */
async function storeEarlierRun(state: RunState, changes: Readonly<Record<string, unknown>> = {}) {
  const ann = await world().as()
  await ann.ok(create, { body: buildPersonLens() })
  const { run_id } = await ann.ok(start, {
    lens_id: 'people',
    node_data: { east: buildPeople(0, 20) },
    accept_poor: true,
  })
  await waitForRunEnd(ann, run_id)
  const store = world().store('resolution')
  const stored = await store.get(fusionRuns, run_id)
  if (!stored) throw new Error(`the run ${run_id} is gone`)
  const { job: _job, job_due_ts: _due, files_until_ts: _until, ended_at: _ended, ...value } = stored.value
  const id = `run_${String(++count).padStart(32, 'e')}`
  await store.create(earlierRuns, id, { ...value, state, goal: state, owes: 0, attempts: 1, ...changes })
  return { ann, id }
}

test('are shown without the fields that the service has no more', async () => {
  const { ann, id } = await storeEarlierRun('matched')
  for (const shown of [await ann.ok(get, { uid: id }), await ann.ok(status, { run_id: id })]) {
    expect(shown).toMatchObject({ uid: id, state: 'matched' })
    expect(Object.keys(shown)).not.toEqual(expect.arrayContaining(['owes']))
    expect(Object.keys(shown)).not.toEqual(expect.arrayContaining(['attempts']))
  }
  const { items } = await ann.ok(list, { state: 'matched' })
  expect(items.map(({ uid }) => uid)).toEqual([id])
})

test('are cancelled', async () => {
  const { ann, id } = await storeEarlierRun('extracted')
  expect(await ann.ok(cancel, { run_id: id })).toMatchObject({ state: 'cancelled' })
  expect((await world().store('resolution').get(fusionRuns, id))?.value).toMatchObject({ job: { state: 'cancelled' } })
})

test.each(['extracted', 'matched'] as const)(
  'that are %s go on with the principal who requests the next phase',
  async (state) => {
    const { ann, id } = await storeEarlierRun(state)
    await ann.ok(resolve, { run_id: id })
    const stored = (await world().store('resolution').get(fusionRuns, id))?.value
    expect(stored?.job.principal).toMatchObject({ subject: expect.any(String) })
  },
)

test('that were asked for their next phase are not continued, and end with the reason', async () => {
  const { ann, id } = await storeEarlierRun('extracted', { goal: 'matched', owes: 1 })
  expect(await ann.ok(get, { uid: id })).toMatchObject({ state: 'extracted' })
  expect(await ann.refusal(resolve, { run_id: id })).toBe('wrong_state')
  world().wakeWorker('resolution', 'files')
  expect(await waitForRunEnd(ann, id)).toMatchObject({
    ...{ state: 'failed', failure: { code: 'ended', reason: expect.stringContaining('start it again') } },
  })
})
