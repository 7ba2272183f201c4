// Modes of what is made in the folder that workers and the site share.
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { requestsFolder, writeHandover } from './handover-folder.ts'
import { makeFolder, shareDataset } from './shared-folder.ts'
import { readUntrustedFile } from './untrusted-file.ts'

function createFolder(mode: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'shared-'))
  chmodSync(folder, mode)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const modeOf = (file: string) => (statSync(file).mode & 0o7777).toString(8)

async function makeAll(folder: string) {
  const run = join(folder, 'datasets/acme/run')
  makeFolder(folder, run)
  const dataset = join(run, 'task')
  mkdirSync(dataset, { mode: 0o700 })
  writeFileSync(join(dataset, 'dataset.json'), '{}', { mode: 0o600 })
  shareDataset(dataset)
  await writeHandover(requestsFolder(`${folder}/`, 'alpha'), 'a.json', { a: 1 })
  return [run, dataset, join(dataset, 'dataset.json'), join(folder, 'requests/alpha/a.json')].map(modeOf)
}

test('a folder with a group for its entries shares with it, whatever the umask leaves out', async () => {
  const before = process.umask(0o077)
  onTestFinished(() => void process.umask(before))
  expect(await makeAll(createFolder(0o2770))).toEqual(['2770', '2750', '640', '640'])
})

test('any other folder shares nothing', async () => {
  expect(await makeAll(createFolder(0o700))).toEqual(['700', '700', '600', '600'])
})

test('a link in a dataset, or in its place, shares nothing of what it leads to', () => {
  const private_folder = createFolder(0o700)
  const secret = join(private_folder, 'secret')
  writeFileSync(secret, 'x', { mode: 0o600 })
  const run = createFolder(0o2770)
  const dataset = join(run, 'read')
  mkdirSync(dataset)
  symlinkSync(secret, join(dataset, 'a'))
  symlinkSync(private_folder, join(dataset, 'b'))
  linkSync(secret, join(dataset, 'c'))
  symlinkSync(private_folder, join(run, 'other'))
  shareDataset(dataset)
  shareDataset(join(run, 'other'))
  expect([secret, private_folder, dataset].map(modeOf)).toEqual(['600', '700', '2750'])
})

test('nothing is made behind a link that others may have laid', () => {
  const [folder, elsewhere] = [createFolder(0o2770), createFolder(0o700)]
  symlinkSync(elsewhere, join(folder, 'acme'))
  expect(() => makeFolder(folder, join(folder, 'acme/run'))).toThrow('not a folder')
  expect(readdirSync(elsewhere)).toEqual([])
})

test('a request is read up to its bound, and what is not a file is not read', async () => {
  const folder = createFolder(0o700)
  writeFileSync(join(folder, 'a'), 'abc')
  expect((await readUntrustedFile(join(folder, 'a'), 3)).toString()).toBe('abc')
  await expect(readUntrustedFile(join(folder, 'a'), 2)).rejects.toThrow('too large')
  await expect(readUntrustedFile(folder, 3)).rejects.toThrow('not a file')
})
