// The change log under writers that die at any write, and under two that work at the same time: on a store of its own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Label } from '../../../daemon/kernel/label/label.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { scopedStore } from '../../../daemon/kernel/store/scoped-store.ts'
import type { Collection, Store, StoredFields } from '../../../daemon/kernel/store/store.ts'
import { signalLogs } from '../../../daemon/roles/intelligence/change-log/model.ts'
import { recordChanges } from '../../../daemon/roles/intelligence/change-log/rules.ts'
import { changes } from '../../../daemon/roles/intelligence/signal/changes.ts'
import { type StoredSignal, signals } from '../../../daemon/roles/intelligence/signal/model.ts'
import { changeStatus } from '../../../daemon/roles/intelligence/signal/rules.ts'
import { log } from '../../../daemon/roles/intelligence/workers/log.ts'
import { openSqliteStore } from '../../conformance/store-variants.ts'

const labels = { policy: 'SITE', levels: ['OPEN', 'SECRET'] }
const at = '2026-03-02T12:00:00.000Z'

let folder: string
let storeHandle: ReturnType<typeof openSqliteStore>
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'signal-log-'))
  storeHandle = openSqliteStore(folder)
})
afterEach(async () => {
  await storeHandle.file.close()
  rmSync(folder, { recursive: true, force: true })
})

function buildSignal(tenant_id: string): StoredSignal {
  const label: Label = { policy: 'SITE', level: 'OPEN', categories: [], originator: tenant_id }
  const fresh: StoredSignal = {
    ...{ tenant_id, label, created_by: 'bob', created_at: at, updated_at: at, request_digest: '', request_key: 'k' },
    ...{ schema_version: '1.1', signal_type: 't', source: { type: 'manual' }, severity: 'low', title: 't' },
    subject: { type: 'asset', id: 'a', name: 'A' },
    actor: { type: 'person', id: 'bob' },
    ...{ detected_at: at, expires_at: at, status: 'new', metadata: { status_history: [] }, subject_id: 'a' },
    ...{ source_type: 'manual', visibility: 'listed', subject_visibility: 'listed' },
    ...{ links: [], owes: 0, revision: 0, untold: [], tally: '' },
  }
  return recordChanges(undefined, fresh, 'bob')
}

/** New signals, each then acknowledged and dismissed: three changes that no log has yet. */
async function fillSignals(tenant_id: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    let value = buildSignal(tenant_id)
    for (const to of ['acknowledged', 'dismissed'] as const) {
      // The clock is set back in between.
      const next = changeStatus(value, to, { by: 'ann', at: to === 'dismissed' ? '2026-03-02T11:00:00.000Z' : at })
      value = recordChanges(value, next as StoredSignal, 'ann')
    }
    await storeHandle.store.create(signals, `sig_${tenant_id}_${n}`, value)
  }
}

class WriterDiedError extends Error {}

/** A store on which every writer dies at this write, before or after it is done, and at every write after it. */
function createDyingStore(store: Store, mortal: { left: number; readonly isDone: boolean }): Store {
  const guarded =
    <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      mortal.left -= 1
      if (mortal.left === 0 && mortal.isDone) await write(...args)
      if (mortal.left <= 0) throw new WriterDiedError()
      return write(...args)
    }
  const { create, update, bulk } = store
  return Object.assign(Object.create(store) as Store, {
    list: store.list.bind(store),
    get: store.get.bind(store),
    create: guarded(create.bind(store) as never),
    update: guarded(update.bind(store) as never),
    bulk: guarded(bulk.bind(store) as never),
  })
}

let clock = Date.parse(at)

function createCall(store: Store, tenant_id: string): Call {
  const caller = { subject: 'ann', tenant_id, roles: [], permissions: new Set<string>(), clearance: undefined }
  const scope = { caller, labels, if_match: undefined, onRefusal: () => undefined }
  const own = {
    ...{ caller, site: { labels }, trace: { trace_id: '' }, log: { error: () => undefined } },
    signal: new AbortController().signal,
    now: () => clock++,
    store: <T extends StoredFields>(of: Collection<T>) => scopedStore(store, of, scope),
  }
  return own as unknown as Call
}

const runLogWorker = (store: Store) =>
  log.run(createCall(store, '*')).catch((error: unknown) => expect(error).toBeInstanceOf(WriterDiedError))

async function readLog(tenant_id: string): Promise<string[]> {
  const page = changes.output.parse(await changes.run(createCall(storeHandle.store, tenant_id), { limit: 500 }))
  return page.items.map(({ id }) => id)
}

async function expectWholeLog(tenant_id: string, count: number): Promise<void> {
  const ids = await readLog(tenant_id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toHaveLength(3 * count)
  for (let n = 0; n < count; n += 1) {
    const id = `sig_${tenant_id}_${n}`
    expect(ids.filter((each) => each.startsWith(`${id}:`))).toEqual([`${id}:1:0`, `${id}:2:0`, `${id}:3:0`])
  }
  expect(await storeHandle.store.count(signals, { unlogged: 1 })).toBe(0)
  expect(await storeHandle.store.count(signalLogs, { owes: 1 })).toBe(0)
}

test('a writer that dies at any write leaves a log that goes on, and what was read before stays the beginning', async () => {
  await fillSignals('alpha', 3)
  let before: string[] = []
  for (let death = 1; death < 40; death += 1) {
    await runLogWorker(createDyingStore(storeHandle.store, { left: death, isDone: death % 2 === 0 }))
    const ids = await readLog('alpha')
    expect(ids.slice(0, before.length)).toEqual(before)
    before = ids
  }
  await runLogWorker(storeHandle.store)
  expect((await readLog('alpha')).slice(0, before.length)).toEqual(before)
  await expectWholeLog('alpha', 3)
})

test('each death is followed by a sound writer who finds the same log as without it', async () => {
  for (let death = 1; death <= 16; death += 1) {
    const tenant = `tenant${death}`
    await fillSignals(tenant, 2)
    await runLogWorker(createDyingStore(storeHandle.store, { left: death, isDone: death % 2 === 1 }))
    await runLogWorker(storeHandle.store)
    await expectWholeLog(tenant, 2)
  }
})

test('writers of several processes make one log', async () => {
  await fillSignals('alpha', 120)
  await fillSignals('bravo', 3)
  await Promise.all([runLogWorker(storeHandle.store), runLogWorker(storeHandle.store), runLogWorker(storeHandle.store)])
  await runLogWorker(storeHandle.store)
  await expectWholeLog('alpha', 120)
  await expectWholeLog('bravo', 3)
})
