// Folders whose content or whose surroundings are hostile: what is refused, what waits, and that nothing is lost by it.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type {
  FileRow,
  LeftOutRows,
  RefusedRow,
} from '../../../daemon/roles/resolution/arrival-folder/watched-folder.ts'
import { lens as lensSchema } from '../../../daemon/roles/resolution/lens/model.ts'
import { findSharedFolder } from '../../../daemon/runtime/resolution/arrivals/find-shared-folder.ts'
import {
  findFolderFault,
  openFolderDescriptors,
} from '../../../daemon/runtime/resolution/arrivals/folder-descriptors.ts'
import { openWatchedFolder } from '../../../daemon/runtime/resolution/arrivals/open-watched-folder.ts'
import { describeRights, scanFolder } from '../../../daemon/runtime/resolution/arrivals/scan-folder.ts'
import { threadedRows } from '../../../daemon/runtime/resolution/arrivals/threaded-rows.ts'
import { resolutionThreads } from '../../../daemon/runtime/resolution/run-threads.ts'
import { buildPersonLens } from './resolution-site.ts'

const lens = lensSchema.parse(buildPersonLens())
const rows = threadedRows(resolutionThreads(), 1_073_741_824)

let drop: string
const { signal } = new AbortController()
beforeEach(() => {
  drop = fs.mkdtempSync(path.join(tmpdir(), 'drop-'))
})
afterEach(() => {
  fs.rmSync(drop, { recursive: true, force: true })
})

async function takeFile(content: string, name = 'a.csv') {
  const folder = openWatchedFolder(drop, rows)
  fs.writeFileSync(path.join(drop, name), content)
  const claim = await folder.claim(name)
  if (claim === undefined) throw new Error('the file was not taken')
  const file = await folder.open(claim, signal)
  if (isRefusal(file)) throw file
  return { folder, claim, file, at: path.join(drop, 'work', claim) }
}

async function readRows(file: Awaited<ReturnType<typeof takeFile>>['file']) {
  const rows: FileRow[] = []
  const rejected: RefusedRow[] = []
  const options = {
    lens,
    delimiter: undefined,
    first_row: 1,
    onLeftOut: ({ first }: LeftOutRows) => rejected.push(...first),
  }
  for await (const row of file.rows(options)) rows.push(row)
  return { rows, rejected }
}

test('a folder that does not exist, is a file, or has the service’s folders as links or for everybody is named', () => {
  expect(findFolderFault(path.join(drop, 'none'))).toBe(' does not exist')
  fs.writeFileSync(path.join(drop, 'file'), '')
  expect(findFolderFault(path.join(drop, 'file'))).toBe(' is not a folder')
  fs.symlinkSync(tmpdir(), path.join(drop, 'work'))
  expect(findFolderFault(drop)).toMatch(/its folder work is/)
  fs.unlinkSync(path.join(drop, 'work'))
  fs.mkdirSync(path.join(drop, 'work'))
  fs.chmodSync(path.join(drop, 'work'), 0o777)
  expect(findFolderFault(drop)).toBe(
    ': its folder work may be written by other users; the service needs one of its own',
  )
  fs.rmdirSync(path.join(drop, 'work'))
  expect(findFolderFault(drop, { createsFolders: false })).toBeUndefined()
  expect(fs.readdirSync(drop)).toEqual(['file'])
  expect(findFolderFault(drop)).toBeUndefined()
  expect(fs.readdirSync(drop).sort()).toEqual(['done', 'failed', 'file', 'work'])
})

test('folders that are one directory, or of which one lies in the other, are found by what their paths lead to', () => {
  const intake = { name: 'desk', path: drop }
  const find = (other: string) => findSharedFolder({ name: 'other', path: other }, [intake])
  fs.mkdirSync(path.join(drop, 'done'))
  fs.symlinkSync(drop, `${drop}-link`)
  fs.mkdirSync(`${drop}-next`)
  const remedy = 'give each folder a directory of its own, and none within another'
  const same = ` is the directory of the folder desk (${drop}): ${remedy}`
  expect(find(`${path.dirname(drop)}/./${path.basename(drop)}`)).toBe(same)
  expect(find(`${drop}-link`)).toBe(same)
  expect(find(`${drop}-link/done`)).toBe(` lies in the folder desk (${drop}): ${remedy}`)
  expect(find(path.dirname(drop))).toBe(` holds the folder desk (${drop}): ${remedy}`)
  expect([find(`${drop}-next`), find(`${drop}-none`)]).toEqual([undefined, undefined])
  fs.unlinkSync(`${drop}-link`)
  fs.rmdirSync(`${drop}-next`)
})

test('a folder that goes away is unavailable, and serves again when it is back', async () => {
  const folder = openWatchedFolder(drop, rows)
  fs.renameSync(drop, `${drop}-away`)
  await expect(folder.scan()).rejects.toMatchObject({ code: 'unavailable', message: `${drop} does not exist` })
  fs.renameSync(`${drop}-away`, drop)
  expect(await folder.scan()).toMatchObject({ waiting: [], claims: [] })
})

test('a file that is written to after it was taken fails before a further record', async () => {
  const { file, at } = await takeFile('id,name\n1,Anna\n')
  fs.appendFileSync(path.join(at, 'a.csv'), '2,Bert\n')
  expect(() => file.checkUnchanged()).toThrow('changed while it was read')
  file.close()
})

test('a file that was replaced by a link after it was taken is not followed', async () => {
  const { folder, claim, file, at } = await takeFile('id,name\n1,Anna\n')
  file.close()
  fs.unlinkSync(path.join(at, 'a.csv'))
  fs.symlinkSync('/etc/hostname', path.join(at, 'a.csv'))
  expect(await folder.open(claim, signal)).toMatchObject({ code: 'malformed' })
})

test('rows of the same content have the same numbers each time, with the lines of those that are left out', async () => {
  const { file } = await takeFile('id,name\n1,Anna\n2,too,many\n3,"two\nlines"\n4,Dora\n')
  const first = await readRows(file)
  expect(first.rows.map(({ row, line, record }) => [row, line, record.id])).toEqual([
    [1, 2, '1'],
    [2, 4, '3'],
    [3, 6, '4'],
  ])
  expect(first.rejected).toMatchObject([{ line: 3 }])
  expect(await readRows(file)).toEqual(first)
  file.close()
})

test.each([
  ['bad.csv', `id,given_name,surname\n${'a,b,c,d\n'.repeat(600_000)}`],
  ['open.csv', `id,given_name,surname\n"${'""'.repeat(4_000_000)}`],
  ['long.jsonl', `${JSON.stringify({ id: '1', given_name: 'x'.repeat(900_000) })}\n`.repeat(20)],
])('%s, which takes long to read, is read beside the event loop', async (name, content) => {
  const { file } = await takeFile(content, name)
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const { rows: read } = await readRows(file)
  clearInterval(timer)
  file.close()
  expect(read.length).toBeLessThanOrEqual(20)
  // Reading on the event loop had no turn before its end.
  expect(turns).toBeGreaterThan(20)
})

test('the reader of a file waits for the service: it holds a few pieces, also of many records', async () => {
  const content = ['id,given_name', ...Array.from({ length: 20_000 }, (_, at) => `r${at},Anna`)].join('\n')
  const { file } = await takeFile(content)
  const ids: unknown[] = []
  for await (const { record } of file.rows({ lens, delimiter: undefined, first_row: 3, onLeftOut: () => undefined })) {
    ids.push(record.id)
    if (ids.length % 500 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  expect(ids).toEqual(Array.from({ length: 19_998 }, (_, at) => `r${at + 2}`))
  file.close()
})

test('a reader that nobody reads on from ends with its thread', async () => {
  const { file } = await takeFile(['id', ...Array.from({ length: 20_000 }, (_, at) => `r${at}`)].join('\n'))
  const reading = file
    .rows({ lens, delimiter: undefined, first_row: 1, onLeftOut: () => undefined })
    [Symbol.asyncIterator]()
  expect(await reading.next()).toMatchObject({ value: { row: 1, record: { id: 'r0' } } })
  await reading.return?.()
  expect(await reading.next()).toMatchObject({ done: true })
  file.close()
})

test('answers after the counted bytes are discarded', async () => {
  const { file, at } = await takeFile('id\n1\n')
  const counted = await file.append('{"row":1}\n', 0)
  await file.append('{"row":2}\n', counted)
  expect(await file.append('{"row":2,"again":true}\n', counted)).toBe(33)
  expect(fs.readFileSync(path.join(at, 'a.csv.answers.jsonl'), 'utf8')).toBe('{"row":1}\n{"row":2,"again":true}\n')
  file.close()
})

test('answers that cannot be written are unavailable, so that the file waits', async () => {
  const { file, at } = await takeFile('id\n1\n')
  fs.mkdirSync(path.join(at, 'a.csv.answers.jsonl'))
  await expect(file.append('{"row":1}\n', 0)).rejects.toMatchObject({ code: 'unavailable' })
  file.close()
})

test('a claim that a crash left without a file is removed; one with a file stays', async () => {
  const { folder, claim, file } = await takeFile('id\n1\n')
  file.close()
  fs.mkdirSync(path.join(drop, 'work', 'b.csv.0123456789abcdef'))
  expect((await folder.scan()).claims).toEqual([claim])
  expect(fs.readdirSync(path.join(drop, 'work'))).toEqual([claim])
})

test('of very many names a look holds a thousand', async () => {
  const folder = openWatchedFolder(drop, rows)
  for (let at = 0; at < 1_100; at++) fs.writeFileSync(path.join(drop, `${at}.csv`), '')
  expect((await folder.scan()).waiting).toHaveLength(1_000)
})

test('a look at a folder that somebody filled with other names has many turns of the event loop', async () => {
  const folder = openWatchedFolder(drop, rows)
  for (let at = 0; at < 400; at++) fs.writeFileSync(path.join(drop, `${at}.txt`), '')
  for (let at = 0; at < 400; at++) fs.symlinkSync('/etc/hostname', path.join(drop, `${at}.csv`))
  let [turns, isOver] = [0, false]
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  expect(await folder.scan()).toMatchObject({ waiting: [], left_count: 800 })
  isOver = true
  expect(turns).toBeGreaterThanOrEqual(8)
})

test('a file that could not be moved is tried again once the rights of it or of its folder change', async () => {
  fs.writeFileSync(path.join(drop, 'a.csv'), 'id\n1\n')
  const folder = openFolderDescriptors(drop)
  const reason = 'the service may not move this file'
  const remember = () => new Map([['a.csv', { reason, rights: describeRights(folder, 'a.csv') }]])
  const unmovable = remember()
  expect(await scanFolder(folder, unmovable)).toMatchObject({ waiting: [], left: [{ name: 'a.csv', reason }] })
  fs.chmodSync(drop, 0o770)
  expect(await scanFolder(folder, unmovable)).toMatchObject({ waiting: ['a.csv'], left: [] })
  const again = remember()
  fs.chmodSync(path.join(drop, 'a.csv'), 0o600)
  expect(await scanFolder(folder, again)).toMatchObject({ waiting: ['a.csv'], left: [] })
  folder.close()
})
