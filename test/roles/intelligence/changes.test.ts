// The change log: every change once, with old and new values, in an order for followers, and only for cleared readers.
import { describe, expect, test } from 'vitest'
import { type SignalChange, signalLogs } from '../../../daemon/roles/intelligence/change-log/model.ts'
import { attest } from '../../../daemon/roles/intelligence/edition/attest.ts'
import { draft } from '../../../daemon/roles/intelligence/edition/draft.ts'
import { open } from '../../../daemon/roles/intelligence/insight/open.ts'
import { start } from '../../../daemon/roles/intelligence/insight/start.ts'
import { acknowledge } from '../../../daemon/roles/intelligence/signal/acknowledge.ts'
import { archive } from '../../../daemon/roles/intelligence/signal/archive.ts'
import { changes } from '../../../daemon/roles/intelligence/signal/changes.ts'
import { changesOf } from '../../../daemon/roles/intelligence/signal/changes-of.ts'
import { create } from '../../../daemon/roles/intelligence/signal/create.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { linkInsight } from '../../../daemon/roles/intelligence/signal/link-insight.ts'
import { signals } from '../../../daemon/roles/intelligence/signal/model.ts'
import { setDisposition } from '../../../daemon/roles/intelligence/signal/set-disposition.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  buildSignalInput,
  openInsight,
  raiseSignal,
  setUpIntelligenceSite,
  waitUntilOutboxEmpty,
} from './intelligence-site.ts'

const world = setUpIntelligenceSite()

/** Waits until the log has everything. */
async function waitUntilLogged(): Promise<void> {
  await waitUntilOutboxEmpty(world())
  const store = world().store('intelligence')
  await waitUntil(async () => (await store.count(signals, { unlogged: 1 }, { fresh: true })) === 0)
  await waitUntil(async () => (await store.count(signalLogs, { owes: 1 }, { fresh: true })) === 0)
}

/** Everything after a place, by pages of a few. */
async function listChanges(person: CheckedClient, since?: string, limit = 7) {
  const items: SignalChange[] = []
  let at = since
  for (;;) {
    const page = await person.ok(changes, { limit, ...(at === undefined ? {} : { since: at }) })
    items.push(...page.items)
    at = page.next_since
    if (!page.has_more) return { items, at }
  }
}

const readHistory = async (person: CheckedClient, uid: string) =>
  (await person.ok(changesOf, { uid, limit: 500 })).items.map(({ by, rationale, fields }) => ({
    by,
    rationale,
    fields,
  }))

describe('the changes of one signal', () => {
  test('are reported from its arrival to its end, old value and new, by whom and why', async () => {
    const ann = await world().as()
    const bob = await world().as({ subject: 'bob' })
    const uid = await raiseSignal(ann)
    const insight = await openInsight(ann, uid)
    await waitUntilOutboxEmpty(world())
    await bob.ok(acknowledge, { uid, note: 'on it' })
    await ann.ok(start, { uid: insight })
    await waitUntilOutboxEmpty(world())
    await bob.ok(archive, { uid, rationale: 'a buoy' })
    const { acknowledged_at, metadata } = await ann.ok(get, { uid })
    const events = [
      { by: 'ann', fields: [{ field: 'status', from: null, to: 'new' }] },
      {
        ...{ by: 'ann', rationale: 'linked to an insight' },
        fields: [{ field: 'linked_insight_ids', from: null, to: insight }],
      },
      {
        ...{ by: 'bob', rationale: 'on it' },
        fields: [
          { field: 'acknowledged_at', from: null, to: acknowledged_at },
          { field: 'acknowledged_by', from: null, to: 'bob' },
          { field: 'acknowledgment_note', from: null, to: 'on it' },
          { field: 'status', from: 'new', to: 'acknowledged' },
        ],
      },
      {
        ...{ by: 'ann', rationale: 'the investigation of a linked insight has begun' },
        fields: [{ field: 'status', from: 'acknowledged', to: 'investigating' }],
      },
      {
        ...{ by: 'bob', rationale: 'a buoy' },
        fields: [
          { field: 'status', from: 'investigating', to: 'dismissed' },
          { field: 'metadata.archived', from: null, to: true },
          { field: 'metadata.archived_at', from: null, to: metadata.archived_at },
          { field: 'metadata.archived_by', from: null, to: 'bob' },
        ],
      },
    ]
    // Both while the log may not have the last of them, and when it has all.
    expect(await readHistory(ann, uid)).toEqual(events)
    await waitUntilLogged()
    expect(await readHistory(ann, uid)).toEqual(events)
    expect((await ann.ok(changesOf, { uid, limit: 500 })).items.map(({ revision }) => revision)).toEqual([
      1, 2, 3, 4, 5,
    ])
  })

  test('hold its end by time, and pages of them miss none', async () => {
    const ann = await world().as()
    const expires_at = new Date(world().clock.now() + 60_000).toISOString()
    const { uid } = await ann.ok(create, buildSignalInput({ expires_at }))
    world().clock.advance(120_000)
    world().wakeWorker('intelligence', 'expiry')
    await waitUntil(async () => (await ann.ok(get, { uid })).metadata.expired_at)
    await ann.ok(archive, { uid })
    await waitUntilLogged()
    const [first] = (await ann.ok(changesOf, { uid, limit: 1 })).items
    const { next_cursor: cursor = '' } = await ann.ok(changesOf, { uid, limit: 1 })
    const rest = (await ann.ok(changesOf, { uid, limit: 500, cursor })).items
    expect([first, ...rest].map((each) => each?.fields[0]?.field)).toEqual(['status', 'metadata.expired_at', 'status'])
    expect(rest[0]).toMatchObject({ by: 'role:intelligence', fields: [{ from: null }] })
  })

  test('do not change the version that a client holds while they are taken into the log', async () => {
    const ann = await world().as()
    const { uid, version } = await ann.ok(create, buildSignalInput())
    await waitUntilLogged()
    expect((await ann.ok(get, { uid })).version).toBe(version)
    await ann.ok(acknowledge, { uid }, { 'if-match': `"${version}"` })
    expect(await ann.refusal(archive, { uid }, { 'if-match': `"${version}"` })).toBe('precondition_failed')
  })
})

describe('the log of a tenant', () => {
  test('gives a follower each change once and none too late, however many write at the same time', async () => {
    const ann = await world().as()
    await waitUntilLogged()
    const { at: before } = await listChanges(ann)
    let isOver = false
    const heard: SignalChange[] = []
    const follower = (async () => {
      let since = before
      for (;;) {
        const wasOver = isOver
        const { items, at } = await listChanges(ann, since, 3)
        heard.push(...items)
        since = at
        if (wasOver) return
      }
    })()
    const writer = async () => {
      const uid = await raiseSignal(ann)
      await ann.ok(acknowledge, { uid })
      await ann.ok(setDisposition, { uid, disposition: 'investigating', rationale: 'r' })
      await ann.ok(setDisposition, { uid, disposition: 'resolved', rationale: 'r' })
      return uid
    }
    const uids = await Promise.all(Array.from({ length: 30 }, writer))
    await waitUntilLogged()
    isOver = true
    await follower
    expect(new Set(heard.map(({ id }) => id)).size).toBe(heard.length)
    for (const uid of uids) {
      const own = heard.filter(({ signal_id }) => signal_id === uid)
      expect(own.map(({ revision }) => revision)).toEqual([1, 2, 3, 4])
    }
    expect(heard).toHaveLength(uids.length * 4)
    // Read again, the order is the same.
    expect((await listChanges(ann, before, 500)).items).toEqual(heard)
  })

  test('belongs to its tenant, and shows nobody signals above them, nor that such signals exist', async () => {
    const ann = await world().as()
    const low = await world().as({ subject: 'lou', clearance: { level: 'UNCLASSIFIED' } })
    const other = await world().as({ subject: 'eve', tenant: 'tenant-b' })
    await waitUntilLogged()
    const { at: before } = await listChanges(low, undefined, 500)
    const secret = await raiseSignal(ann, { classification: 'SECRET' })
    const plain = await raiseSignal(ann, { classification: 'UNCLASSIFIED' })
    const { uid: insight } = await ann.ok(open, { signal_id: plain, title: 'Both', classification: 'SECRET' })
    await ann.ok(linkInsight, { uid: secret, insight_id: insight })
    await ann.ok(start, { uid: insight })
    const { editions } = await ann.ok(draft, { uid: insight, title: 't', summary: '', closes: true })
    await ann.ok(attest, { uid: insight, edition_id: editions[0]?.edition_id ?? '' })
    await waitUntilLogged()
    const seen = await listChanges(low, before)
    expect(new Set(seen.items.map(({ signal_id }) => signal_id))).toEqual(new Set([plain]))
    expect(seen.items.map(({ fields }) => fields[0]?.to)).toEqual(['new', 'investigating', 'resolved'])
    expect(JSON.stringify(await ann.ok(changesOf, { uid: plain, limit: 500 }))).toContain(insight)
    for (const mine of [seen.items, (await low.ok(changesOf, { uid: plain, limit: 500 })).items]) {
      expect(JSON.stringify(mine)).not.toMatch(new RegExp(`${insight}|${editions[0]?.edition_id}`))
    }
    expect(await low.refusal(changesOf, { uid: secret })).toBe('not_found')
    expect(await other.refusal(changesOf, { uid: plain })).toBe('not_found')
    expect(await other.ok(changes, {})).toEqual({ items: [], has_more: false })
  })

  test('takes a cursor for the clearance of its reader alone, and no invented one', async () => {
    const ann = await world().as()
    await raiseSignal(ann)
    await waitUntilLogged()
    const { next_since: since = '' } = await ann.ok(changes, { limit: 1 })
    const low = await world().as({ subject: 'lou', clearance: { level: 'UNCLASSIFIED' } })
    const { problem } = await low.call(changes, { since })
    expect(problem).toMatchObject({ status: 400, errors: [{ path: 'since' }] })
    for (const wrong of ['', 'x', `${since.slice(0, -4)}AAAA`]) {
      expect(await ann.refusal(changes, { since: wrong })).toBe('malformed')
    }
  })
})
