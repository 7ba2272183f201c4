// Documents of an earlier release are migrated once, all or none; the version in the file guards against a later release.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { sqliteAudit } from '../../adapters/store/sqlite/audit/audit.ts'
import { migrateDocuments, readSchemaVersions } from '../../adapters/store/sqlite/schema/schema-versions.ts'
import { type SqliteFile, sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import { sqliteStore } from '../../adapters/store/sqlite/store.ts'
import { type AnyCollection, type Collection, collection, type StoredFields } from '../../daemon/kernel/store/store.ts'
import { entryOf, firstEntries, secondEntries } from '../support/store/versioned-entries.ts'

/** More than one page of a migration. */
const count = 450

function openFile(): SqliteFile {
  const folder = mkdtempSync(path.join(tmpdir(), 'versions-'))
  const file = sqliteFile({ file: path.join(folder, 'store.db'), addonDir: folder })
  onTestFinished(async () => {
    await file.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return file
}

async function fillFirst(file: SqliteFile): Promise<void> {
  const docs = Array.from({ length: count }, (_, at) => ({ id: `e${at}`, version: 7, value: entryOf(at) }))
  await openStore(file, firstEntries).load(firstEntries, docs)
}

const openStore = (file: SqliteFile, ...collections: AnyCollection[]) =>
  sqliteStore(file, { audit: sqliteAudit(file, 'test@here'), collections })

/** As a release with these collections does at its start. */
const migrate = (file: SqliteFile, of: unknown, release: string) =>
  migrateDocuments(file, [of as Collection<StoredFields>], release)

test('every document has the new form and its index, and keeps its id and version', async () => {
  const file = openFile()
  await fillFirst(file)
  expect(await migrate(file, secondEntries, '1.1.0')).toEqual([
    { collection: 'entry', from: 1, to: 2, documents: count },
  ])
  const store = openStore(file, secondEntries)
  const { docs } = await store.list(secondEntries, { filter: { name: 'entry 449' }, limit: 9 })
  expect(docs).toEqual([{ id: 'e449', version: 7, value: { tenant_id: 'alpha', rank: 449, name: 'entry 449' } }])
  expect(await store.count(secondEntries, { name: { exists: true } })).toBe(count)
  expect(await store.check()).toEqual([])
})

test('a second start migrates nothing, and the record names the release that first wrote this version', async () => {
  const file = openFile()
  await fillFirst(file)
  await migrate(file, firstEntries, '1.0.5')
  await migrate(file, secondEntries, '1.1.0')
  expect(await migrate(file, secondEntries, '1.2.0')).toEqual([])
  expect(readSchemaVersions(file)).toEqual([{ collection: 'entry', version: 2, release: '1.1.0' }])
})

test('a collection without documents has the version of the release that created it', async () => {
  const file = openFile()
  expect(await migrate(file, secondEntries, '1.1.0')).toEqual([])
  expect(readSchemaVersions(file)).toEqual([{ collection: 'entry', version: 2, release: '1.1.0' }])
})

test('a document that cannot be migrated leaves all documents as they were, named without its content', async () => {
  const file = openFile()
  await fillFirst(file)
  const strict = collection({ ...secondEntries, schema: secondEntries.schema.refine(({ rank }) => rank !== 444) })
  await expect(migrate(file, strict, '1.1.0')).rejects.toThrow(/^entry "e444" does not have the new form/)
  expect(readSchemaVersions(file)).toEqual([])
  expect((await openStore(file, firstEntries).get(firstEntries, 'e0'))?.value).toEqual(entryOf(0))
})

test('documents pass through every step, one after the other', async () => {
  const file = openFile()
  await fillFirst(file)
  const third = collection({
    name: 'entry',
    schema: z.strictObject({ tenant_id: z.string(), rank: z.number(), name: z.string(), length: z.number() }),
    indexes: ['rank'],
    migrations: [
      ...(secondEntries.migrations ?? []),
      {
        to: 3,
        summary: 'the length of the name',
        change: (value) => ({ ...value, length: (value as unknown as { name: string }).name.length }) as StoredFields,
      },
    ],
  })
  expect(await migrate(file, third, '1.2.0')).toMatchObject([{ from: 1, to: 3 }])
  expect((await openStore(file, third).get(third, 'e9'))?.value).toMatchObject({ name: 'entry 9', length: 7 })
})
