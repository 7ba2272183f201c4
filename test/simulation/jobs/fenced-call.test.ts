// A step changes its own job by an update under its claim, and by nothing else.
import { expect, test } from 'vitest'
import { tenantServiceCaller } from '../../../daemon/kernel/identity/admit-caller.ts'
import { fenceCall, JobLostError } from '../../../daemon/kernel/job/fenced-call.ts'
import { claimJob } from '../../../daemon/kernel/job/rules.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { scopedStore } from '../../../daemon/kernel/store/scoped-store.ts'
import type { Collection, StoredFields } from '../../../daemon/kernel/store/store.ts'
import { openTemporaryStore } from '../../support/store/open-temporary-store.ts'
import { buildWork, effects, works } from './work-job.ts'

/** A step under the first claim of a job that `claims` claims were made of. */
async function openFence(claims: number) {
  const { store } = openTemporaryStore(works, effects)
  let value = buildWork(2, 'ann', 1)
  for (let claim = 0; claim < claims; claim++) value = claimJob(value, 2) as typeof value
  await store.create(works, 'job', value)
  const stop = new AbortController()
  const scope = {
    end: stop.signal,
    caller: tenantServiceCaller('test', 'alpha'),
    labels: { policy: 'SITE', levels: ['LOW'] },
    if_match: undefined,
    onRefusal: () => undefined,
  }
  const call = {
    store: <T extends StoredFields>(collection: Collection<T>) => scopedStore(store, collection, scope),
  } as Partial<Call> as Call
  const fence = { collection: works, id: 'job', claim: { claims: 1 }, signal: stop.signal, onLost: () => stop.abort() }
  const read = async () => await store.get(works, 'job')
  return { fenced: fenceCall(call, fence), stop, read, store, value }
}

test('a former holder that has not noticed its loss writes nothing of the job by any method', async () => {
  const { fenced, read, value } = await openFence(2)
  const before = await read()
  const put = { do: 'put', id: 'job', value: { ...value, steps: 9 }, version: before?.version ?? 0 } as const
  await expect(fenced.store(works).bulk([put])).rejects.toThrow('changes its own job job by update alone')
  await expect(fenced.store(works).remove('job')).rejects.toThrow('by update alone')
  await expect(fenced.store(works).create('job', value)).rejects.toThrow('by update alone')
  expect(await read()).toEqual(before)
  await expect(fenced.store(works).update('job', () => ({ next: value, answer: 1 }))).rejects.toThrow(JobLostError)
  expect(await read()).toEqual(before)
  // The loss is known now.
  await expect(fenced.store(effects).create('effect', { tenant_id: 'alpha', times: 1 })).rejects.toThrow()
})

test('the holder writes its job by update, and other documents by every method', async () => {
  const { fenced, read, store, value } = await openFence(1)
  const update = await fenced
    .store(works)
    .update('job', (doc) => ({ next: { ...doc.value, steps: 7 }, answer: 'done' }))
  expect([update.answer, (await read())?.value.steps]).toEqual(['done', 7])
  await fenced.store(effects).create('job', { tenant_id: 'alpha', times: 1 })
  await fenced.store(works).create('other', value)
  await fenced.store(works).remove('other')
  expect([await store.count(effects), await store.count(works)]).toEqual([1, 1])
})

test('an aborted step writes nothing', async () => {
  const { fenced, stop, store, value } = await openFence(1)
  stop.abort()
  await expect(fenced.store(works).update('job', () => ({ next: value, answer: 1 }))).rejects.toThrow()
  await expect(fenced.store(effects).create('effect', { tenant_id: 'alpha', times: 1 })).rejects.toThrow()
  expect(await store.count(effects)).toBe(0)
})
