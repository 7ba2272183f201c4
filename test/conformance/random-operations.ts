// Random operations on a store and on a map in memory: every store must answer as the map does.
import fc from 'fast-check'
import { expect } from 'vitest'
import { dominates, type Label } from '../../daemon/kernel/label/label.ts'
import type { Doc, Scalar, Store } from '../../daemon/kernel/store/store.ts'
import { type Note, notes, type StoreFixture } from './store-requirement.ts'

type NoteModel = Map<string, Doc<Note>>
type StoreUnderTest = { store: Store; reopen(): Promise<void> }
type StoreCommand = fc.AsyncCommand<NoteModel, StoreUnderTest>

/** Every query requests this: a cluster's answers lag otherwise. */
const fresh = { fresh: true }

const anId = fc.constantFrom('a', 'b', 'ä', '🗝', '\uffee')
const aVersion = fc.integer({ min: 1, max: 4 })
const aCount = fc.integer({ min: 0, max: 5 })
const aRank = fc.option(fc.constantFrom(-1.5, 0, 1, 2, 1e12), { nil: undefined })
const policy = { policy: 'site', levels: ['OPEN', 'SECRET'] }
const aLevel = fc.constantFrom('OPEN', 'SECRET', 'UNHEARD')
const categories = fc.array(fc.constantFrom('x', 'y'), { maxLength: 3 })
const aName = fc.constantFrom('alpha', 'bravo', 'ABC')
const anAudience = fc.option(fc.array(aName, { maxLength: 3 }), { nil: undefined })
const someLabel = fc
  .tuple(fc.constantFrom('site', 'site', 'other'), aLevel, categories, anAudience)
  .map(([policy, level, categories, releasable_to]): Label => {
    return { policy, level, categories, originator: 'alpha', ...(releasable_to ? { releasable_to } : {}) }
  })
const aClearance = fc
  .tuple(aLevel, categories, fc.option(aName, { nil: undefined }))
  .map(([level, categories, nationality]) => ({ level, categories, ...(nationality ? { nationality } : {}) }))
const aViewer = fc.record({
  tenant_id: fc.constantFrom('alpha', 'bravo'),
  clearance: fc.option(aClearance, { nil: undefined }),
})
const someNote: fc.Arbitrary<Note> = fc
  .record({
    tenant_id: fc.constantFrom('alpha', 'bravo'),
    title: fc.string({ unit: 'grapheme', maxLength: 3 }),
    kind: fc.constantFrom('red' as const, 'green' as const, 'blue' as const),
    open: fc.boolean(),
    count: aCount,
    rank: aRank,
    expires_ts: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
    label: fc.option(someLabel, { nil: undefined }),
  })
  .map((note) => JSON.parse(JSON.stringify(note)) as Note)

const byBytes = (x: string, y: string) => Buffer.compare(Buffer.from(x), Buffer.from(y))
const sorted = (model: NoteModel) => [...model.values()].toSorted((x, y) => byBytes(x.id, y.id))

function createCommand(says: string, run: (model: NoteModel, real: StoreUnderTest) => Promise<void>): StoreCommand {
  return { check: () => true, run, toString: () => says }
}

function putInModel(model: NoteModel, id: string, value: Note, version: number) {
  const held = model.get(id)
  if (!held) return 'missing'
  if (held.version !== version) return 'conflict'
  const doc = { id, version: version + 1, value }
  model.set(id, doc)
  return doc
}

function removeFromModel(model: NoteModel, id: string, version?: number) {
  const held = model.get(id)
  if (!held) return 'missing'
  if (version !== undefined && held.version !== version) return 'conflict'
  model.delete(id)
  return 'done'
}

function removeMatching(model: NoteModel, isMeant: (value: Note) => boolean): number {
  const meant = [...model.values()].filter(({ value }) => isMeant(value))
  for (const { id } of meant) model.delete(id)
  return meant.length
}

const writes = [
  fc.tuple(anId, someNote).map(([id, value]) =>
    createCommand(`create ${id}`, async (model, { store }) => {
      const doc = { id, version: 1, value }
      const expected = model.has(id) ? 'exists' : doc
      if (expected !== 'exists') model.set(id, doc)
      expect(await store.create(notes, id, value)).toEqual(expected)
    }),
  ),
  fc.tuple(anId, someNote, aVersion).map(([id, value, version]) =>
    createCommand(`put ${id} ${version}`, async (model, { store }) => {
      expect(await store.put(notes, id, value, version)).toEqual(putInModel(model, id, value, version))
    }),
  ),
  fc.tuple(anId, fc.integer({ min: 1, max: 4 })).map(([id, times]) =>
    createCommand(`update ${id} ${times} times at once`, async (model, { store }) => {
      const add = () =>
        store.update(notes, id, ({ value }) => ({ next: { ...value, count: value.count + 1 }, answer: value.count }))
      const done = await Promise.all(Array.from({ length: times }, add))
      const held = model.get(id)
      if (!held) return expect(done).toEqual(done.map(() => 'missing'))
      const { version, value } = held
      expect(done.map((each) => each !== 'missing' && each.answer)).toEqual(done.map((_, n) => value.count + n))
      model.set(id, { id, version: version + times, value: { ...value, count: value.count + times } })
    }),
  ),
  fc.tuple(anId, fc.option(aVersion, { nil: undefined })).map(([id, version]) =>
    createCommand(`remove ${id} ${version}`, async (model, { store }) => {
      expect(await store.remove(notes, id, version)).toBe(removeFromModel(model, id, version))
    }),
  ),
  fc.tuple(anId, someNote, anId, aVersion).map(([id, value, other, version]) =>
    createCommand(`bulk ${id} ${other} ${version}`, async (model, { store }) => {
      const replaced = putInModel(model, id, value, version)
      const expected = [typeof replaced === 'string' ? replaced : 'done', removeFromModel(model, other, version)]
      const outcomes = await store.bulk([
        { do: 'put', collection: notes, id, value, version },
        { do: 'remove', collection: notes, id: other, version },
      ] as never)
      expect(outcomes).toEqual(expected)
    }),
  ),
  aCount.map((count) =>
    createCommand(`remove where count is above ${count}`, async (model, { store }) => {
      const expected = removeMatching(model, (value) => value.count > count)
      expect(await store.removeWhere(notes, { count: { gt: count } })).toBe(expected)
    }),
  ),
  fc.integer({ min: 0, max: 9 }).map((now) =>
    createCommand(`expire ${now}`, async (model, { store }) => {
      const expected = removeMatching(model, ({ expires_ts }) => expires_ts !== undefined && expires_ts <= now)
      expect(await store.expire(notes, now)).toBe(expected)
    }),
  ),
  fc.constant(createCommand('reopen', async (_model, real) => real.reopen())),
]

const reads = [
  anId.map((id) =>
    createCommand(`get ${id}`, async (model, { store }) => expect(await store.get(notes, id)).toEqual(model.get(id))),
  ),
  fc
    .tuple(fc.constantFrom('asc' as const, 'desc' as const), fc.constantFrom('rank', 'open', 'title', 'count'))
    .map(([direction, field]) =>
      createCommand(`list by ${field} ${direction}`, async (model, { store }) => {
        const seen: Doc<Note>[] = []
        let cursor: string | undefined
        do {
          const order = { field, direction }
          const page = await store.list<Note>(notes, {
            limit: 2,
            order,
            ...fresh,
            ...(cursor === undefined ? {} : { cursor }),
          })
          seen.push(...page.docs)
          cursor = page.next_cursor
        } while (cursor !== undefined)
        const up = sorted(model).toSorted((x, y) => byValue(readField(x, field), readField(y, field)))
        expect(seen).toEqual(direction === 'asc' ? up : up.toReversed())
      }),
    ),
  fc.tuple(aCount, fc.boolean()).map(([count, open]) =>
    createCommand(`count ${count} ${open}`, async (model, { store }) => {
      const meant = sorted(model).filter(({ value }) => value.count >= count && value.open === open)
      const filter = { count: { gte: count }, open }
      expect(await store.count(notes, filter, fresh)).toBe(meant.length)
      expect((await store.list(notes, { filter, limit: 50, ...fresh })).docs).toEqual(meant)
    }),
  ),
  fc.constantFrom('kind', 'open', 'rank', 'tenant_id').map((field) =>
    createCommand(`count by ${field}`, async (model, { store }) => {
      const expected = new Map<Scalar, number>()
      for (const doc of model.values()) {
        const value = readField(doc, field)
        if (value !== undefined) expected.set(value, (expected.get(value) ?? 0) + 1)
      }
      expect(await store.countBy(notes, field, {}, fresh)).toEqual(expected)
    }),
  ),
  aViewer.map((viewer) =>
    createCommand(`see as ${JSON.stringify(viewer)}`, async (model, { store }) => {
      const how = { read_scope: { viewer, policy }, ...fresh }
      const meant = sorted(model).filter(({ value: { tenant_id, label } }) => {
        return tenant_id === viewer.tenant_id && (label === undefined || dominates(viewer, label, policy))
      })
      expect((await store.list(notes, { limit: 50, ...how })).docs).toEqual(meant)
      expect(await store.count(notes, {}, how)).toBe(meant.length)
    }),
  ),
  fc.constantFrom(0.5, 1, 3).map((interval) =>
    createCommand(`histogram ${interval}`, async (model, { store }) => {
      const expected = new Map<number, number>()
      for (const { value } of model.values()) {
        if (value.rank === undefined) continue
        const bucket = Math.floor(value.rank / interval) * interval
        expected.set(bucket, (expected.get(bucket) ?? 0) + 1)
      }
      expect(await store.histogram(notes, 'rank', interval, {}, fresh)).toEqual(expected)
    }),
  ),
]

function readField(doc: Doc<Note>, field: string): Scalar | undefined {
  return (doc.value as Record<string, unknown>)[field] as Scalar | undefined
}

/** Absent values come first; the rest by value, text by its bytes. */
function byValue(x: Scalar | undefined, y: Scalar | undefined): number {
  if (x === undefined || y === undefined) return Number(x !== undefined) - Number(y !== undefined)
  return typeof x === 'string' ? byBytes(x, String(y)) : Number(x) - Number(y)
}

/** Replays as many histories; `open` makes an empty world for each. The seed says which histories. */
export async function replayHistories(
  open: () => Promise<{ world: StoreFixture; end(): Promise<void> }>,
  histories: { readonly seed: number; readonly runs: number; readonly length: number },
): Promise<void> {
  const operations = fc.commands([...writes, ...reads], { maxCommands: histories.length, size: 'max' })
  const property = fc.asyncProperty(operations, async (commands) => {
    const opened = await open()
    let { world } = opened
    const real: StoreUnderTest = {
      get store() {
        return world.store
      },
      async reopen() {
        world = await world.reopen()
      },
    }
    try {
      await fc.asyncModelRun(() => ({ model: new Map(), real }), commands)
      expect(await world.store.check()).toEqual([])
    } finally {
      await opened.end()
    }
  })
  await fc.assert(property, { seed: histories.seed, numRuns: histories.runs })
}
