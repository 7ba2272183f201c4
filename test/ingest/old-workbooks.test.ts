// Workbooks of Excel 97 to 2003: their sheets land with types, lead back to their rows, and are resolved.
// test/support/data/xls was written by LibreOffice 7.4.7.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { readLanded } from '../roles/ingest/ingest-site.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { encodeXls, xlsCell } from '../support/data/write-xls.ts'

const { dir, remove } = createScratchFolder('old-workbooks')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
const orders = gunzipSync(readFileSync(path.join(import.meta.dirname, '../support/data/xls/libreoffice.xls.gz')))
writeFileSync(at('orders.xls'), orders)

test('a sheet lands with its types, and a row leads back to its row in the sheet', async () => {
  const dataset = await runJsonCommand(['ingest', 'land', at('orders.xls'), '--out', at('landed')])
  const types = dataset.columns.map(({ name, type }: { name: string; type: string }) => [name, type])
  expect(Object.fromEntries(types)).toEqual({
    ...{ id: 'int64', name: 'text', born: 'date', seen: 'local_timestamp', zip: 'text', price: 'double' },
    ...{ share: 'double', ok: 'boolean', note: 'text', sum: 'double' },
  })
  expect(dataset.inputs).toMatchObject([{ read_as: { format: 'xls', sheet: 'Orders' }, rows: 80, rejects: 0 }])
  // The first row is empty, and the second one names the columns.
  const { rows } = await runJsonCommand(['ingest', 'origin', at('landed'), '--row', '80'])
  expect(rows).toMatchObject([{ inputs: [{ name: 'orders.xls', unit: 'row', place: 82 }] }])
})

test('a sheet is named by --sheet, and by the task of a pipeline', async () => {
  const words = ['ingest', 'land', at('orders.xls'), '--out', at('hidden'), '--sheet', '2']
  const { stderr } = await runCommand(words)
  expect([stderr, await readLanded(at('hidden'))]).toEqual(['', [['12345678901']]])
  mkdirSync(at('data/tenant-a'), { recursive: true })
  writeFileSync(at('data/tenant-a/orders.xls'), orders)
  const params = { file: 'orders.xls', read_as: { format: 'xls', sheet: 'Hidden' } }
  const task = { name: 'read', operator: 'ingest_file', params }
  const step = { format: 1, tenant_id: 'tenant-a', pipeline: 'pl_1', run: 'manual__2026-03-02T12:00:00+00:00', task }
  const stepWords = ['ingest', 'step', '-', '--folder', at('steps'), '--data-folder', at('data')]
  const { dataset } = await runJsonCommand(stepWords, { input: JSON.stringify(step) })
  expect(await readLanded(at(`steps/datasets/tenant-a/${dataset.dataset}`))).toEqual([['12345678901']])
})

test('a bad row is kept with its row in the sheet', async () => {
  const cells = [xlsCell.text(0, 0, 'id'), xlsCell.number(1, 0, 1), xlsCell.number(2, 3, 2), xlsCell.number(3, 0, 3)]
  writeFileSync(at('bad.xls'), encodeXls({ sheets: { S: cells } }))
  const words = ['ingest', 'land', at('bad.xls'), '--out', at('bad'), '--max-rejects', '1']
  expect((await runJsonCommand(words)).inputs).toMatchObject([{ rows: 2, rejects: 1 }])
  const [reject] = readFileSync(at('bad/rejects.jsonl'), 'utf8').trim().split('\n')
  expect(JSON.parse(reject ?? '')).toMatchObject({
    input: 'bad.xls',
    row: 3,
    reason: expect.stringContaining('column D'),
  })
})

test('records of a folder with old workbooks are resolved', async () => {
  mkdirSync(at('folder'))
  const names = ['id', 'given_name', 'surname', 'date_of_birth']
  const people = Array.from({ length: 60 }, (_, n) => [
    `p${n}`,
    ...[`Ann${n % 30}`, `Berg${n % 30}`, `1980-02-${String(1 + (n % 28)).padStart(2, '0')}`],
  ])
  const cells = [names, ...people].flatMap((row, y) => row.map((text, x) => xlsCell.text(y, x, text)))
  writeFileSync(at('folder/people.xls'), encodeXls({ sheets: { people: cells } }))
  const words = ['resolve', 'run', '--lens', 'persons', '--data', at('folder'), '--out', at('resolved')]
  expect(await runCommand(words)).toMatchObject({ exit: 0 })
  const { sources } = JSON.parse(readFileSync(at('resolved/run.json'), 'utf8'))
  expect(sources).toMatchObject([{ read_as: { format: 'xls', sheet: 'people', rows: 60 } }])
})
