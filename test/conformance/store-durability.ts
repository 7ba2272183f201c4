// Requirements on what lasts: the audit record with its write, expiry, removal by filter, copies, and a sound close.
import { statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import type { AuditEvent } from '../../daemon/kernel/audit/audit-chain.ts'
import { collection } from '../../daemon/kernel/store/store.ts'
import { buildEvent, buildNote, note, notes, type StoreRequirement, storeRequirement } from './store-requirement.ts'

export const durabilityRequirements: readonly StoreRequirement[] = [
  storeRequirement(
    'audit-with-write',
    'a write and its audit record are both there or neither is',
    async ({ store, audit }) => {
      const event = (target: string) => [buildEvent({ target })]
      await store.create(notes, 'n1', buildNote(), event('create'))
      await store.create(notes, 'n1', buildNote(), event('refused'))
      await store.put(notes, 'n1', buildNote({ count: 1 }), 1, event('put'))
      await store.put(notes, 'n1', buildNote(), 1, event('conflict'))
      await store.update(notes, 'n1', ({ value }) => ({
        next: { ...value, count: 2 },
        answer: 0,
        audit: event('update'),
      }))
      await store.update(notes, 'n1', () => ({ answer: 0, audit: event('looked') }))
      await store.remove(notes, 'n1', 9, event('conflict'))
      await store.remove(notes, 'n1', 3, event('remove'))
      await store.remove(notes, 'n1', undefined, event('missing'))
      const targets = (await audit.list({ limit: 50, ascending: true })).map((record) => record.event?.target)
      expect(targets).toEqual(['create', 'put', 'update', 'looked', 'remove'])
      expect(await audit.verify()).toBeUndefined()
    },
  ),
  storeRequirement(
    'audit-refused',
    'a write whose audit record cannot be stored is not done',
    async ({ store, audit }) => {
      const wrong = [{ ...buildEvent(), extra: 1 }] as unknown as AuditEvent[]
      const nan = [buildEvent({ detail: { x: Number.NaN } })]
      await expect(store.create(notes, 'n1', buildNote(), wrong)).rejects.toThrow()
      await expect(store.create(notes, 'n1', buildNote(), nan)).rejects.toThrow()
      expect(await store.get(notes, 'n1')).toBeUndefined()
      await store.create(notes, 'n1', buildNote(), [buildEvent()])
      await expect(store.remove(notes, 'n1', 1, nan)).rejects.toThrow()
      expect(await store.get(notes, 'n1')).toMatchObject({ version: 1 })
      expect((await audit.head()).seq).toBe(1)
      expect(await audit.verify()).toBeUndefined()
    },
  ),
  storeRequirement(
    'expire',
    'removes documents that expire at or before the instant, and nothing else',
    async ({ store }) => {
      for (const [id, expires_ts] of Object.entries({ a: 99, b: 100, c: 101 })) {
        await store.create(notes, id, buildNote({ expires_ts, tenant_id: id }))
      }
      await store.create(notes, 'd', buildNote())
      expect(await store.expire(notes, 100)).toBe(2)
      expect(await store.expire(notes, 100)).toBe(0)
      expect((await store.list(notes, { limit: 9, fresh: true })).docs.map(({ id }) => id)).toEqual(['c', 'd'])
      expect(await store.get(notes, 'a')).toBeUndefined()
    },
  ),
  storeRequirement('remove-where', 'removes the documents that the filter names, in any number', async ({ store }) => {
    const writes = Array.from({ length: 1_300 }, (_, n) => ({
      do: 'create',
      collection: notes,
      id: `n${n}`,
      value: buildNote({ count: n, kind: n % 13 ? 'red' : 'blue' }),
    }))
    await store.bulk(writes as never)
    expect(await store.removeWhere(notes, { kind: 'red', tenant_id: 'bravo' })).toBe(0)
    expect(await store.removeWhere(notes, { kind: 'red' })).toBe(1_200)
    expect(await store.count(notes, {}, { fresh: true })).toBe(100)
    expect(await store.get(notes, 'n1')).toBeUndefined()
    expect(await store.update(notes, 'n1', () => ({ answer: 0 }))).toBe('missing')
    expect(await store.removeWhere(notes, {})).toBe(100)
  }),
  storeRequirement(
    'reopen',
    'an acknowledged write is there when the store is opened again',
    async ({ store, ...world }) => {
      await store.create(notes, 'n1', buildNote(), [buildEvent()])
      const pending = store.put(notes, 'n1', buildNote({ count: 1 }), 1, [buildEvent()])
      const again = await world.reopen()
      expect(await pending).toMatchObject({ version: 2 })
      expect(await again.store.get(notes, 'n1')).toEqual({ id: 'n1', version: 2, value: buildNote({ count: 1 }) })
      expect(await again.audit.head()).toMatchObject({ seq: 2 })
      expect(await again.store.check()).toEqual([])
      await expect(store.create(notes, 'n2', buildNote())).rejects.toMatchObject({ code: 'unavailable' })
      expect(await store.health()).toMatchObject({ ok: false })
    },
  ),
  storeRequirement(
    'new-index',
    'an index that is declared later covers earlier documents',
    async ({ store, ...world }) => {
      const before = collection({ name: 'grown', schema: note, indexes: ['kind'] })
      await store.create(before, 'a', buildNote({ rank: 5, open: false }))
      await store.create(before, 'b', buildNote({ rank: 6 }))
      await expect(store.count(before, { rank: 5 })).rejects.toThrow('rank')
      const after = collection({ name: 'grown', schema: note, indexes: ['kind', 'rank', 'open'] })
      const again = await world.reopen()
      expect(await again.store.count(after, { rank: { gte: 6 } }, { fresh: true })).toBe(1)
      expect(await again.store.countBy(after, 'open', {}, { fresh: true })).toEqual(
        new Map([
          [false, 1],
          [true, 1],
        ]),
      )
      await again.store.update(after, 'a', ({ value }) => ({ next: { ...value, rank: 7 }, answer: 0 }))
      expect(await again.store.count(after, { rank: { gte: 6 } }, { fresh: true })).toBe(2)
      expect(await again.store.check()).toEqual([])
    },
  ),
  storeRequirement(
    'backup',
    'a copy made while writes go on is whole, private, and never overwrites',
    async (world) => {
      const { store, folder } = world
      // A cluster's documents are its own to copy, and it says so.
      if (!world.openCopy)
        return await expect(store.backup(path.join(folder, 'copy'))).rejects.toMatchObject({ code: 'invalid' })
      for (let n = 0; n < 50; n++) await store.create(notes, `n${n}`, buildNote({ count: n }), [buildEvent()])
      const to = path.join(folder, 'copy')
      const writes = Array.from({ length: 50 }, (_, n) => store.create(notes, `m${n}`, buildNote(), [buildEvent()]))
      await store.backup(to)
      await Promise.all(writes)
      expect(statSync(to).mode & 0o777).toBe(0o600)
      const copy = await world.openCopy(to)
      expect(await copy.store.count(notes)).toBeGreaterThanOrEqual(50)
      expect((await copy.audit.head()).seq).toBe(await copy.store.count(notes))
      expect(await copy.store.check()).toEqual([])
      const taken = path.join(folder, 'taken')
      writeFileSync(taken, 'something')
      await expect(store.backup(taken)).rejects.toMatchObject({ code: 'already_exists' })
      expect(statSync(taken).size).toBe(9)
    },
  ),
  storeRequirement('health', 'an open store is healthy and sound', async ({ store }) => {
    await store.create(notes, 'n1', buildNote(), [buildEvent()])
    expect(await store.health()).toMatchObject({ ok: true })
    expect(await store.check()).toEqual([])
  }),
]
