// The change log under writers that die at any write, and under two that work at the same time: on a store of its own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Call } from '../../../daemon/kernel/call.ts'
import type { Label } from '../../../daemon/kernel/label.ts'
import { scopedStore } from '../../../daemon/kernel/scoped-store.ts'
import type { Collection, Store, Stored } from '../../../daemon/kernel/store.ts'
import { changes } from '../../../daemon/roles/intelligence/log/changes.ts'
import { signalLogs } from '../../../daemon/roles/intelligence/log/model.ts'
import { noted } from '../../../daemon/roles/intelligence/log/rules.ts'
import { type StoredSignal, signals } from '../../../daemon/roles/intelligence/signal/model.ts'
import { become } from '../../../daemon/roles/intelligence/signal/rules.ts'
import { log } from '../../../daemon/roles/intelligence/workers/log.ts'
import { openSqliteStore } from '../../conformance/store-arms.ts'

const labels = { policy: 'SITE', levels: ['OPEN', 'SECRET'] }
const at = '2026-03-02T12:00:00.000Z'

let folder: string
let opened: ReturnType<typeof openSqliteStore>
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'signal-log-'))
  opened = openSqliteStore(folder)
})
afterEach(async () => {
  await opened.file.close()
  rmSync(folder, { recursive: true, force: true })
})

function aSignal(tenant_id: string): StoredSignal {
  const label: Label = { policy: 'SITE', level: 'OPEN', categories: [], originator: tenant_id }
  const fresh: StoredSignal = {
    ...{ tenant_id, label, created_by: 'bob', created_at: at, updated_at: at, request_digest: '', request_key: 'k' },
    ...{ schema_version: '1.1', signal_type: 't', source: { type: 'manual' }, severity: 'low', title: 't' },
    subject: { type: 'asset', id: 'a', name: 'A' },
    actor: { type: 'person', id: 'bob' },
    ...{ detected_at: at, expires_at: at, status: 'new', metadata: { status_history: [] }, subject_id: 'a' },
    ...{ source_type: 'manual', standing: 'listed', subject_standing: 'listed' },
    ...{ links: [], owes: 0, revision: 0, untold: [], tally: '' },
  }
  return noted(undefined, fresh, 'bob')
}

/** New signals, each then acknowledged and dismissed: three changes that no log has yet. */
async function filled(tenant_id: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    let value = aSignal(tenant_id)
    for (const to of ['acknowledged', 'dismissed'] as const) {
      // The clock is set back in between.
      const next = become(value, to, { by: 'ann', at: to === 'dismissed' ? '2026-03-02T11:00:00.000Z' : at })
      value = noted(value, next as StoredSignal, 'ann')
    }
    await opened.store.create(signals, `sig_${tenant_id}_${n}`, value)
  }
}

class Died extends Error {}

/** A store on which whoever writes dies at this write, before or after it is done, and at every write after it. */
function dyingAt(store: Store, mortal: { left: number; readonly isDone: boolean }): Store {
  const guarded =
    <A extends unknown[], R>(write: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      mortal.left -= 1
      if (mortal.left === 0 && mortal.isDone) await write(...given)
      if (mortal.left <= 0) throw new Died()
      return write(...given)
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

function callOf(store: Store, tenant_id: string): Call {
  const caller = { subject: 'ann', tenant_id, roles: [], permissions: new Set<string>(), clearance: undefined }
  const scope = { caller, labels, if_match: undefined, refusedOn: () => undefined }
  const own = {
    ...{ caller, site: { labels }, trace: { trace_id: '' }, log: { error: () => undefined } },
    signal: new AbortController().signal,
    now: () => clock++,
    store: <T extends Stored>(of: Collection<T>) => scopedStore(store, of, scope),
  }
  return own as unknown as Call
}

const keep = (store: Store) => log.run(callOf(store, '*')).catch((error: unknown) => expect(error).toBeInstanceOf(Died))

async function read(tenant_id: string): Promise<string[]> {
  const page = changes.output.parse(await changes.run(callOf(opened.store, tenant_id), { limit: 500 }))
  return page.items.map(({ id }) => id)
}

async function isWhole(tenant_id: string, count: number): Promise<void> {
  const ids = await read(tenant_id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toHaveLength(3 * count)
  for (let n = 0; n < count; n += 1) {
    const id = `sig_${tenant_id}_${n}`
    expect(ids.filter((each) => each.startsWith(`${id}:`))).toEqual([`${id}:1:0`, `${id}:2:0`, `${id}:3:0`])
  }
  expect(await opened.store.count(signals, { unlogged: 1 })).toBe(0)
  expect(await opened.store.count(signalLogs, { owes: 1 })).toBe(0)
}

test('a writer that dies at any write leaves a log that goes on, and what was read before stays the beginning', async () => {
  await filled('alpha', 3)
  let before: string[] = []
  for (let death = 1; death < 40; death += 1) {
    await keep(dyingAt(opened.store, { left: death, isDone: death % 2 === 0 }))
    const ids = await read('alpha')
    expect(ids.slice(0, before.length)).toEqual(before)
    before = ids
  }
  await keep(opened.store)
  expect((await read('alpha')).slice(0, before.length)).toEqual(before)
  await isWhole('alpha', 3)
})

test('each death is followed by a sound writer who finds the same log as without it', async () => {
  for (let death = 1; death <= 16; death += 1) {
    const tenant = `tenant${death}`
    await filled(tenant, 2)
    await keep(dyingAt(opened.store, { left: death, isDone: death % 2 === 1 }))
    await keep(opened.store)
    await isWhole(tenant, 2)
  }
})

test('writers of several processes make one log', async () => {
  await filled('alpha', 120)
  await filled('bravo', 3)
  await Promise.all([keep(opened.store), keep(opened.store), keep(opened.store)])
  await keep(opened.store)
  await isWhole('alpha', 120)
  await isWhole('bravo', 3)
})
