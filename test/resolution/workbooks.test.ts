// Workbooks of Excel as data of every command: the records of plain CSV, and faults with their rows.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { encodeXlsx, sheetOf } from '../support/data/write-xlsx.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('workbooks')
afterAll(remove)
const at = (name: string) => path.join(dir, name)

const resolveRun = (file: string, out: string, ...more: string[]) => [
  ...['resolve', 'run', '--lens', 'persons', '--data', at(file), '--out', at(out)],
  ...more,
]
const people = [
  ['id', 'given_name', 'surname', 'postcode'],
  ['1', 'Jürgen', 'Müller', '01234'],
  ['2', 'Änne', 'Weiß', '04109'],
]

test('gives the clusters of the same records as CSV', async () => {
  const { csv } = generatePeople(300, 3)
  const rows = csv
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','))
  expect(rows.every(({ length }) => length === rows[0]?.length)).toBe(true)
  writeFileSync(at('people.csv'), csv)
  writeFileSync(
    at('people.xlsx'),
    encodeXlsx({ sheets: { People: sheetOf(rows.map((row) => row.map((v) => v || null))) } }),
  )
  const plain = await runCommand(resolveRun('people.csv', 'plain'))
  const ended = await runCommand(resolveRun('people.xlsx', 'workbook'))
  expect(ended).toMatchObject({ exit: plain.exit, stderr: plain.stderr })
  const clustersOf = (out: string) =>
    readFileSync(at(`${out}/clusters.csv`), 'utf8').replaceAll('people.xlsx', 'people.csv')
  expect(clustersOf('workbook')).toBe(clustersOf('plain'))
})

describe('several sheets', () => {
  test('are named, the first one is read, and another one on request', async () => {
    const sheets = { Kunden: sheetOf(people), Alt: sheetOf(people.slice(0, 2)) }
    writeFileSync(at('sheets.xlsx'), encodeXlsx({ sheets }))
    const ended = await runCommand(resolveRun('sheets.xlsx', 'first', '--json'))
    expect(ended.stderr).toBe('sheets.xlsx was read as its sheet "Kunden", and not "Alt" (--sheet states another)\n')
    expect(JSON.parse(ended.stdout).sources).toMatchObject([
      { records: 2, read_as: { format: 'xlsx', sheet: 'Kunden' } },
    ])
    for (const sheet of ['Alt', '2']) {
      const other = await runJsonCommand(resolveRun('sheets.xlsx', `sheet ${sheet}`, '--sheet', sheet))
      expect(other.sources).toMatchObject([{ records: 1, read_as: { sheet: 'Alt' } }])
    }
    const missing = await runCommand(resolveRun('sheets.xlsx', 'never', '--sheet', 'Neu'))
    expect(missing).toMatchObject({ exit: 1 })
    expect(missing.stderr).toContain('sheets.xlsx: the workbook has no sheet "Neu"; it has 1 "Kunden", 2 "Alt"')
  })
})

test('bad rows are named by their numbers, and left out on request', async () => {
  const rows = [...people, [null, 'Cy', 'Ueda'], [], ['1', 'Di', 'Eads'], ['5', 'Ed', 'Fry', '1', 'x']]
  writeFileSync(at('bad.xlsx'), encodeXlsx({ sheets: { S: sheetOf(rows) } }))
  const ended = await runCommand(resolveRun('bad.xlsx', 'refused'))
  expect(ended.stderr.split('\n').slice(0, 4)).toEqual([
    `error: ${at('bad.xlsx')} cannot be read: 3 rows are bad`,
    '  row 4: no id',
    '  row 6: the id "1" is that of row 2 too',
    '  row 7: a value in column E, and row 1 names 4 columns',
  ])
  expect((await runJsonCommand(resolveRun('bad.xlsx', 'left', '--skip-bad-rows'))).records).toBe(2)
})

test('a lens is proposed from a workbook, and one by another name is read by the option', async () => {
  writeFileSync(at('data.bin'), encodeXlsx({ sheets: { S: sheetOf(people) } }))
  const words = ['resolve', 'lens', 'init', '--data', at('data.bin')]
  const refused = await runCommand(words)
  expect(refused.stderr).toContain(
    'it is a ZIP archive, or a workbook\n  name a workbook .xlsx, or pass `--data-format xlsx`',
  )
  const profile = await runJsonCommand([...words, '--data-format', 'xlsx'])
  expect(profile.sources).toMatchObject([{ records: 2, read_as: { format: 'xlsx', sheet: 'S' } }])
})

test('a damaged workbook is refused with its file', async () => {
  const bytes = encodeXlsx({ sheets: { S: sheetOf(people) } })
  writeFileSync(at('cut.xlsx'), bytes.subarray(0, bytes.length - 40))
  const ended = await runCommand(resolveRun('cut.xlsx', 'cut'))
  expect(ended.stderr).toContain(`error: ${at('cut.xlsx')}: damaged, or not a workbook of Excel (.xlsx)`)
})
