// Requirements on the erasure of removed and replaced documents from the files of a store.
import { randomUUID } from 'node:crypto'
import { expect, vi } from 'vitest'
import type { Store } from '../../daemon/kernel/store/store.ts'
import { readFolder } from '../support/store/read-folder.ts'
import { buildNote, notes, type StoreRequirement, storeRequirement } from './store-requirement.ts'

/** Enough that pages split and merge meanwhile. */
const documents = 3_000

export const scrubRequirements: readonly StoreRequirement[] = [
  storeRequirement(
    'scrub',
    'what was removed or replaced is in no file of the store afterwards, and the rest stays',
    async ({ store, files }) => {
      const secrets = Array.from({ length: documents }, () => randomUUID())
      const kept = randomUUID()
      await store.create(notes, 'kept', buildNote({ title: kept }))
      await writeAll(store, secrets)
      expect(findTexts(files, secrets).length).toBeGreaterThan(0)
      await Promise.all(secrets.map((_, n) => replaceTitle(store, n, `note ${n}`)))
      await Promise.all(secrets.flatMap((_, n) => (n % 2 ? [store.remove(notes, `n${n}`)] : [])))
      // A cluster keeps the last operations for half a minute.
      await vi.waitFor(
        async () => {
          expect(await store.scrub([notes])).not.toBe('busy')
          expect(findTexts(files, secrets)).toEqual([])
        },
        { timeout: 100_000, interval: 2_000 },
      )
      expect(findTexts(files, [kept])).toEqual([kept])
      expect(await store.get(notes, 'kept')).toMatchObject({ value: { title: kept } })
      expect(await store.count(notes, {}, { fresh: true })).toBe(documents / 2 + 1)
      expect(await store.check()).toEqual([])
    },
  ),
]

/** In no order, some of them repeatedly, so that pages are split, freed and used again. */
async function writeAll(store: Store, secrets: readonly string[]): Promise<void> {
  const order = secrets.map((title, n) => ({ title, n })).sort((a, b) => (a.title < b.title ? -1 : 1))
  await Promise.all(order.map(({ title, n }) => store.create(notes, `n${n}`, buildNote({ title }))))
  for (const step of [7, 3]) {
    const chosen = order.filter(({ n }) => n % step === 0)
    await Promise.all(chosen.map(({ title, n }) => replaceTitle(store, n, `${title} ${'x'.repeat(n % 900)}`)))
  }
}

async function replaceTitle(store: Store, n: number, title: string): Promise<void> {
  await store.update(notes, `n${n}`, ({ value }) => ({ next: { ...value, title }, answer: 0 }))
}

/**
 * Those of the texts of which a file in the folder, or in one below, contains the end: indexes store once what terms
 * have in common at their begin.
 */
function findTexts(folder: string, texts: readonly string[]): string[] {
  const contents = readFolder(folder).map((content) => content.toString('latin1'))
  return texts.filter((text) => contents.some((content) => content.includes(text.slice(8))))
}
