// Requirements on single writes: versions, the winner of a race, refusals, and the audit record in the same transaction.
import { expect } from 'vitest'
import { refuse } from '../../daemon/kernel/error/errors.ts'
import {
  buildEvent,
  buildNote,
  type Note,
  notes,
  type StoreRequirement,
  storeRequirement,
} from './store-requirement.ts'

const unicodeIds = ['ä/ö?#%', 'ключ', '鍵 with space', '🗝️', 'quote\'"`;--', 'tab\tnul\u0000end', '../..', '%2e']

export const writeRequirements: readonly StoreRequirement[] = [
  storeRequirement(
    'create-only',
    'of two creations of one id the second fails because it exists',
    async ({ store }) => {
      const [first, second] = await Promise.all([
        store.create(notes, 'n1', buildNote({ title: 'first' })),
        store.create(notes, 'n1', buildNote({ title: 'second' })),
      ])
      expect(first).toEqual({ id: 'n1', version: 1, value: buildNote({ title: 'first' }) })
      expect(second).toBe('exists')
      expect((await store.get(notes, 'n1'))?.value.title).toBe('first')
    },
  ),
  storeRequirement('absent', 'an absent document is undefined, or missing', async ({ store }) => {
    expect(await store.get(notes, 'n1')).toBeUndefined()
    expect(await store.put(notes, 'n1', buildNote(), 1)).toBe('missing')
    expect(await store.update(notes, 'n1', () => ({ answer: 1 }))).toBe('missing')
    expect(await store.remove(notes, 'n1')).toBe('missing')
    expect(await store.remove(notes, 'n1', 3)).toBe('missing')
  }),
  storeRequirement(
    'versions',
    'each write raises the version by one; a write without change does not',
    async ({ store }) => {
      await store.create(notes, 'n1', buildNote())
      expect(await store.put(notes, 'n1', buildNote({ count: 1 }), 1)).toMatchObject({
        version: 2,
        value: { count: 1 },
      })
      const changed = await store.update(notes, 'n1', ({ value }) => ({ next: { ...value, count: 2 }, answer: 'yes' }))
      expect(changed).toMatchObject({ doc: { version: 3, value: { count: 2 } }, answer: 'yes' })
      const same = await store.update(notes, 'n1', ({ version }) => ({ answer: version }))
      expect(same).toMatchObject({ doc: { version: 3 }, answer: 3 })
      expect(await store.get(notes, 'n1')).toEqual({ id: 'n1', version: 3, value: buildNote({ count: 2 }) })
    },
  ),
  storeRequirement(
    'lost-update',
    'of two writers that read the same version exactly one succeeds',
    async ({ store }) => {
      await store.create(notes, 'n1', buildNote())
      const outcomes = await Promise.all(
        ['left', 'right'].map((title) => store.put(notes, 'n1', buildNote({ title }), 1)),
      )
      expect(outcomes.filter((outcome) => outcome === 'conflict')).toHaveLength(1)
      expect(outcomes).toContainEqual(await store.get(notes, 'n1'))
      expect(await store.put(notes, 'n1', buildNote(), 7)).toBe('conflict')
    },
  ),
  storeRequirement(
    'concurrent-updates',
    'two hundred updates of one document at once are all counted',
    async ({ store }) => {
      await store.create(notes, 'n1', buildNote())
      const increment = () =>
        store.update(notes, 'n1', ({ value }) => ({ next: { ...value, count: value.count + 1 }, answer: value.count }))
      const done = await Promise.all(Array.from({ length: 200 }, increment))
      const answers = done.map((each) => (each === 'missing' ? -1 : each.answer))
      expect(answers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n))
      expect(await store.get(notes, 'n1')).toMatchObject({ version: 201, value: { count: 200 } })
    },
  ),
  storeRequirement('remove', 'a version guards a removal, and a removed id starts again at 1', async ({ store }) => {
    await store.create(notes, 'n1', buildNote())
    await store.put(notes, 'n1', buildNote({ count: 1 }), 1)
    expect(await store.remove(notes, 'n1', 1)).toBe('conflict')
    expect(await store.remove(notes, 'n1', 2)).toBe('done')
    expect(await store.get(notes, 'n1')).toBeUndefined()
    expect(await store.create(notes, 'n1', buildNote({ title: 'again' }))).toMatchObject({ version: 1 })
    expect(await store.get(notes, 'n1')).toMatchObject({ version: 1, value: { title: 'again' } })
    expect(await store.remove(notes, 'n1')).toBe('done')
  }),
  storeRequirement(
    'read-your-writes',
    'an acknowledged write is seen by each fresh read after it',
    async ({ store }) => {
      await store.create(notes, 'n1', buildNote())
      for (let count = 1; count <= 20; count++) {
        await store.update(notes, 'n1', ({ value }) => ({ next: { ...value, count }, answer: null }))
        expect((await store.get(notes, 'n1'))?.value.count).toBe(count)
        expect((await store.list(notes, { filter: { count }, limit: 2, fresh: true })).docs).toHaveLength(1)
      }
    },
  ),
  storeRequirement(
    'schema',
    'a value that fails its schema is refused, and nothing is written',
    async ({ store, audit }) => {
      const wrong = { ...buildNote(), count: -1 }
      const odd = { ...buildNote(), extra: true } as Note
      await expect(store.create(notes, 'n1', wrong, [buildEvent()])).rejects.toThrow()
      await expect(store.create(notes, 'n1', odd)).rejects.toThrow()
      await expect(
        store.bulk([
          { do: 'create', collection: notes, id: 'n2', value: buildNote() },
          { do: 'create', collection: notes, id: 'n1', value: wrong },
        ] as never),
      ).rejects.toThrow()
      await store.create(notes, 'n3', buildNote())
      await expect(store.put(notes, 'n3', odd, 1)).rejects.toThrow()
      await expect(
        store.update(notes, 'n3', () => ({ next: wrong, answer: 0, audit: [buildEvent()] })),
      ).rejects.toThrow()
      expect((await store.list(notes, { limit: 9, fresh: true })).docs).toEqual([
        { id: 'n3', version: 1, value: buildNote() },
      ])
      expect((await audit.head()).seq).toBe(0)
    },
  ),
  storeRequirement(
    'rule-throws',
    'a rule that throws changes nothing, and harms no other writer',
    async ({ store, audit }) => {
      await store.create(notes, 'n1', buildNote())
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) =>
          store.update(notes, 'n1', ({ value }) => {
            if (n % 2) throw refuse('forbidden', 'odd')
            return { next: { ...value, count: value.count + 1 }, answer: n, audit: [buildEvent()] }
          }),
        ),
      )
      expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(outcomes.map((_, n) => n % 2 === 1))
      expect(outcomes[1]).toMatchObject({ reason: { code: 'forbidden' } })
      expect((await store.get(notes, 'n1'))?.value.count).toBe(10)
      expect((await audit.head()).seq).toBe(10)
    },
  ),
  storeRequirement('ids', 'an id is any text, and every character counts', async ({ store }) => {
    for (const id of unicodeIds) expect(await store.create(notes, id, buildNote({ title: id }))).toMatchObject({ id })
    expect(await store.create(notes, 'é', buildNote())).toMatchObject({ id: 'é' })
    expect(await store.create(notes, 'e\u0301', buildNote())).toMatchObject({ id: 'e\u0301' })
    for (const id of unicodeIds) expect((await store.get(notes, id))?.value.title).toBe(id)
    expect(await store.count(notes, {}, { fresh: true })).toBe(unicodeIds.length + 2)
    await expect(store.create(notes, 'half \ud800', buildNote())).rejects.toMatchObject({ code: 'invalid' })
  }),
  storeRequirement('big', 'a document of two megabytes comes back as it went', async ({ store, ...world }) => {
    const title = 'größe🙂'.repeat(200_000)
    await store.create(notes, 'n1', buildNote({ title: 'small' }))
    await store.put(notes, 'n1', buildNote({ title }), 1)
    expect((await store.get(notes, 'n1'))?.value.title === title).toBe(true)
    const again = await world.reopen()
    expect((await again.store.get(notes, 'n1'))?.value.title === title).toBe(true)
  }),
  storeRequirement('bulk', 'writes in bulk are done in order, each with its own outcome', async ({ store }) => {
    await store.create(notes, 'old', buildNote())
    const outcomes = await store.bulk([
      { do: 'create', collection: notes, id: 'new', value: buildNote() },
      { do: 'create', collection: notes, id: 'old', value: buildNote() },
      { do: 'put', collection: notes, id: 'old', value: buildNote({ count: 1 }), version: 1 },
      { do: 'put', collection: notes, id: 'old', value: buildNote({ count: 2 }), version: 1 },
      { do: 'put', collection: notes, id: 'none', value: buildNote(), version: 1 },
      { do: 'remove', collection: notes, id: 'new', version: 1 },
      { do: 'remove', collection: notes, id: 'old', version: 9 },
      { do: 'remove', collection: notes, id: 'none' },
    ] as never)
    expect(outcomes).toEqual(['done', 'exists', 'done', 'conflict', 'missing', 'done', 'conflict', 'missing'])
    expect(await store.get(notes, 'old')).toEqual({ id: 'old', version: 2, value: buildNote({ count: 1 }) })
    expect(await store.bulk([])).toEqual([])
  }),
  storeRequirement('hyphens', 'collections whose names differ by a hyphen alone are two, and stay', async (world) => {
    const names = ['data-ingest', 'data_ingest', 'guide_graph-edges']
    for (const name of names) await world.store.create({ ...notes, name }, 'n1', buildNote({ title: name }))
    const { store } = await world.reopen()
    for (const name of names) {
      const page = await store.list({ ...notes, name }, { filter: { title: name }, limit: 9, fresh: true })
      expect(page.docs.map(({ value }) => value.title)).toEqual([name])
      expect(await store.countBy({ ...notes, name }, 'title', {}, { fresh: true })).toEqual(new Map([[name, 1]]))
    }
    expect(await store.check()).toEqual([])
  }),
  storeRequirement('load', 'documents are moved in with their versions, and over nothing', async ({ store }) => {
    const docs = [3, 1].map((version) => ({ id: `n${version}`, version, value: buildNote({ count: version }) }))
    await store.load(notes, docs)
    for (const doc of docs) expect(await store.get(notes, doc.id)).toEqual(doc)
    expect(await store.put(notes, 'n3', buildNote(), 3)).toMatchObject({ version: 4 })
    await expect(store.load(notes, docs)).rejects.toMatchObject({ code: 'already_exists' })
    expect(await store.get(notes, 'n3')).toMatchObject({ version: 4 })
    const wrong = { ...buildNote(), count: -1 }
    await expect(store.load(notes, [{ id: 'n5', version: 1, value: wrong }])).rejects.toThrow()
  }),
]
