// A role's record of its cluster: the first one, durably, until it adopts another.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { documentsCluster } from '../../adapters/store/sqlite/documents/documents-cluster.ts'
import { sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'

function createFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'memory-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function openDocuments(folder: string) {
  const file = sqliteFile({ file: path.join(folder, 'role.db'), addonDir: folder })
  onTestFinished(() => file.close())
  return { file, memory: documentsCluster(file) }
}

const clusterLocation = { cluster: 'one', base: 'platform.alpha.' }

test('the first place counts, and outlives the process with the indexes that were made', async () => {
  const folder = createFolder()
  const { file, memory } = openDocuments(folder)
  expect(memory.place()).toBeUndefined()
  await memory.recordLocation(clusterLocation)
  await memory.recordLocation({ cluster: 'two', base: 'other.alpha.' })
  for (const name of ['b', 'a', 'b']) await memory.addIndex(name)
  await file.close()
  const again = openDocuments(folder).memory
  expect(again.place()).toEqual(clusterLocation)
  expect(again.indexes()).toEqual(['a', 'b'])
})

test('two processes over one file know the same', async () => {
  const folder = createFolder()
  const [daemon, command] = [openDocuments(folder).memory, openDocuments(folder).memory]
  await Promise.all([
    daemon.recordLocation(clusterLocation),
    command.recordLocation({ ...clusterLocation, cluster: 'two' }),
  ])
  await command.addIndex('a')
  expect(daemon.place()).toEqual(command.place())
  expect(daemon.indexes()).toEqual(['a'])
})

test('adopts another cluster with all indexes but those given up; forgets all on demand', async () => {
  const { memory } = openDocuments(createFolder())
  await memory.recordLocation(clusterLocation)
  for (const name of ['a', 'b']) await memory.addIndex(name)
  await memory.adopt('two', ['a'])
  expect(memory.place()).toEqual({ ...clusterLocation, cluster: 'two' })
  expect(memory.indexes()).toEqual(['b'])
  await memory.forget()
  expect(memory.place()).toBeUndefined()
  expect(memory.indexes()).toEqual([])
})
