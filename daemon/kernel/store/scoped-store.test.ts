// A caller sees only documents of its tenant and within its clearance.
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { openTemporaryStore } from '../../../test/support/store/open-temporary-store.ts'
import type { Refusal } from '../error/errors.ts'
import type { Caller } from '../identity/identity.ts'
import { type Clearance, type Label, label } from '../label/label.ts'
import { scopedStore } from './scoped-store.ts'
import { collection } from './store.ts'

const reports = collection({
  name: 'report',
  schema: z.strictObject({ tenant_id: z.string(), state: z.string(), label: label.optional() }),
  indexes: ['state'],
})
const labels = { policy: 'SITE', levels: ['LOW', 'HIGH'] }
const high: Label = { policy: 'SITE', level: 'HIGH', categories: [], originator: 'alpha' }
const low: Label = { ...high, level: 'LOW' }

function callerOf(tenant_id: string, clearance?: Clearance): Caller {
  return { subject: 'x', tenant_id, roles: [], permissions: new Set(), clearance }
}
const cleared = callerOf('alpha', { level: 'HIGH', categories: [] })
const uncleared = callerOf('alpha')
const foreign = callerOf('bravo', { level: 'HIGH', categories: [], nationality: 'alpha' })
const site = callerOf('*')
const confined: Caller = { ...site, only_tenant: 'alpha' }

/** A store with an open, a low and a high report of alpha, and one of bravo. */
async function world() {
  const { store, audit } = openTemporaryStore(reports)
  const as = (caller: Caller, if_match?: number) =>
    scopedStore(store, reports, { caller, labels, if_match, onRefusal: () => undefined })
  await store.create(reports, 'open', { tenant_id: 'alpha', state: 'new' })
  await store.create(reports, 'low', { tenant_id: 'alpha', state: 'new', label: low })
  await store.create(reports, 'high', { tenant_id: 'alpha', state: 'old', label: high })
  await store.create(reports, 'theirs', { tenant_id: 'bravo', state: 'new' })
  return { store, audit, as }
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: Refusal) => error.code,
  )

describe('reading', () => {
  test.each([
    ['cleared', cleared, ['high', 'low', 'open']],
    ['not cleared', uncleared, ['low', 'open']],
    ['of another tenant', foreign, ['theirs']],
    ['the site itself', site, ['high', 'low', 'open', 'theirs']],
    ['the site itself, within one tenant', confined, ['high', 'low', 'open']],
    ['of a tenant without any', callerOf('charlie'), []],
  ])('a caller %s sees the same documents by id, list, count and histogram', async (_who, caller, ids) => {
    const view = (await world()).as(caller)
    for (const id of ['open', 'low', 'high', 'theirs']) {
      expect(await codeOf(view.get(id))).toBe(ids.includes(id) ? 'done' : 'not_found')
      expect((await view.find(id))?.id).toBe(ids.includes(id) ? id : undefined)
    }
    expect((await view.list({ limit: 10 })).docs.map(({ id }) => id)).toEqual(ids)
    expect(await view.count()).toBe(ids.length)
    const byState = await view.countBy('state')
    expect([...byState.values()].reduce((sum, count) => sum + count, 0)).toBe(ids.length)
  })

  test('a filter narrows the view and cannot widen it', async () => {
    const view = (await world()).as(uncleared)
    expect(await view.count({ state: 'old' })).toBe(0)
    expect(await view.count({ state: 'new' })).toBe(2)
    expect(await view.count({ tenant_id: 'bravo' })).toBe(2)
    expect(
      (await view.list({ filter: { tenant_id: 'bravo', state: 'new' }, limit: 10 })).docs.map(({ id }) => id),
    ).toEqual(['low', 'open'])
  })

  test('pages are full although hidden documents lie between', async () => {
    const { store, as } = await world()
    for (let i = 0; i < 30; i++) {
      await store.create(reports, `n${i}`, { tenant_id: 'alpha', state: 'new', label: i % 3 ? high : low })
    }
    const names: string[] = []
    let cursor: string | undefined
    do {
      const page = await as(uncleared).list({ limit: 5, ...(cursor ? { cursor } : {}) })
      if (page.next_cursor) expect(page.docs).toHaveLength(5)
      names.push(...page.docs.map(({ id }) => id))
      cursor = page.next_cursor
    } while (cursor)
    expect(names).toHaveLength(12)
    expect(new Set(names).size).toBe(12)
  })
})

describe('changing', () => {
  const close = { next: { tenant_id: 'alpha', state: 'closed' }, answer: 'ok' }
  const spoil = { next: { tenant_id: 'bravo', state: 'spoilt' }, answer: 'ok' }

  test('of the caller’s own document succeeds, and returns the next version', async () => {
    const { as } = await world()
    const { doc, answer } = await as(uncleared).update('open', () => close)
    expect({ answer, version: doc.version, state: doc.value.state }).toEqual({
      answer: 'ok',
      version: 2,
      state: 'closed',
    })
  })

  test.each([
    ['of another tenant', foreign, 'open', 'not_your_tenant'],
    ['outside the tenant of a service', confined, 'theirs', 'not_your_tenant'],
    ['beyond one’s clearance', uncleared, 'high', 'not_found'],
    ['that is not there', uncleared, 'nothing', 'not_found'],
  ])('one %s is refused, and nothing changes', async (_what, caller, id, code) => {
    const { as, store } = await world()
    const before = await store.get(reports, id)
    expect(await codeOf(as(caller).update(id, () => spoil))).toBe(code)
    expect(await codeOf(as(caller).remove(id))).toBe(code)
    expect(await store.get(reports, id)).toEqual(before)
  })

  test.each<[string, Caller, string, object, string]>([
    ['to another tenant', uncleared, 'open', { tenant_id: 'bravo' }, 'not_your_tenant'],
    ['to another tenant by a confined service', confined, 'open', { tenant_id: 'bravo' }, 'not_your_tenant'],
    ['to another tenant by the site itself', site, 'open', { tenant_id: 'bravo' }, 'not_your_tenant'],
    ['above the clearance of the caller', uncleared, 'low', { label: high }, 'label_denied'],
    ['under a label, above that clearance', uncleared, 'open', { label: high }, 'label_denied'],
    ['out of its label', cleared, 'low', { label: undefined }, 'label_denied'],
    ['out of its label by the site itself', site, 'low', { label: undefined }, 'label_denied'],
    ['to a label within the clearance', cleared, 'low', { label: high }, 'done'],
    ['to any label by a service', confined, 'low', { label: high }, 'done'],
  ])('one that moves %s is held to the same rules', async (_what, caller, id, moved, code) => {
    const { as, store } = await world()
    const before = await store.get(reports, id)
    const answer = as(caller).update(id, ({ value }) => ({ next: { ...value, ...moved }, answer: 'ok' }))
    expect(await codeOf(answer)).toBe(code)
    const after = await store.get(reports, id)
    expect(after).toEqual(code === 'done' ? { ...before, ...after, value: { ...before?.value, ...moved } } : before)
  })

  test('the rule never runs on a document that the caller may not see', async () => {
    const { as } = await world()
    const names: string[] = []
    const rule = (current: { id: string }) => {
      names.push(current.id)
      return spoil
    }
    for (const caller of [foreign, uncleared]) await codeOf(as(caller).update('high', rule))
    expect(names).toEqual([])
  })

  test('If-Match limits update and removal to the version that the caller saw', async () => {
    const { as } = await world()
    await as(uncleared).update('open', () => close)
    expect(await codeOf(as(uncleared, 1).update('open', () => close))).toBe('precondition_failed')
    expect(await codeOf(as(uncleared, 1).remove('open'))).toBe('precondition_failed')
    expect(await codeOf(as(uncleared, 2).update('open', () => close))).toBe('done')
    expect(await codeOf(as(uncleared, 3).remove('open'))).toBe('done')
    expect(await codeOf(as(uncleared).get('open'))).toBe('not_found')
  })

  test('concurrent changes apply one after the other', async () => {
    const { as } = await world()
    const view = as(uncleared)
    const add = () => view.update('open', ({ value }) => ({ next: { ...value, state: `${value.state}+` }, answer: 0 }))
    await Promise.all(Array.from({ length: 20 }, add))
    expect((await view.get('open')).value.state).toBe(`new${'+'.repeat(20)}`)
  })

  test('an existing id is refused for any owner', async () => {
    const { as } = await world()
    expect(await as(uncleared).create('theirs', { tenant_id: 'alpha', state: 'new' })).toBe('exists')
    expect(await as(uncleared).create('fresh', { tenant_id: 'alpha', state: 'new' })).toMatchObject({ version: 1 })
  })

  test.each([
    ['for another tenant', uncleared, { tenant_id: 'bravo', state: 'new' }, 'not_your_tenant'],
    ['above the clearance of the caller', uncleared, { tenant_id: 'alpha', state: 'new', label: high }, 'label_denied'],
    ['within it', cleared, { tenant_id: 'alpha', state: 'new', label: high }, 'done'],
    ['outside the tenant of a service', confined, { tenant_id: 'bravo', state: 'new' }, 'not_your_tenant'],
    ['of any label within it', confined, { tenant_id: 'alpha', state: 'new', label: high }, 'done'],
    ['of any tenant by the site itself', site, { tenant_id: 'bravo', state: 'new', label: high }, 'done'],
  ])('one that is made %s', async (_what, caller, value, code) => {
    const { as, store } = await world()
    expect(await codeOf(as(caller).create('fresh', value))).toBe(code)
    expect((await store.get(reports, 'fresh'))?.value).toEqual(code === 'done' ? value : undefined)
  })
})

describe('a service of the site within one tenant', () => {
  test('can neither list, count nor write in bulk for another', async () => {
    const { as, store } = await world()
    const view = as(confined)
    const filter = { tenant_id: 'bravo' }
    expect(() => view.list({ filter, limit: 10 })).toThrow('may not list another')
    expect(() => view.count(filter)).toThrow('may not list another')
    expect(() => view.countBy('state', filter)).toThrow('may not list another')
    const writes = ['alpha', 'bravo'].map((tenant_id) => ({
      ...{ do: 'create' as const, id: `bulk-${tenant_id}` },
      value: { tenant_id, state: 'new' },
    }))
    expect(await codeOf(view.bulk(writes))).toBe('not_your_tenant')
    expect(await store.get(reports, 'bulk-alpha')).toBeUndefined()
    expect(await view.bulk(writes.slice(0, 1))).toEqual(['done'])
  })
})
