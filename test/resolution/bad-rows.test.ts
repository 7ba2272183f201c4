// Rows that cannot be read: all are counted and the first ten named, or they are left out and reported.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { encodeParquet } from '../support/data/encode-blocks.ts'

const { dir, remove } = createScratchFolder('bad-rows')
afterAll(remove)
const at = (name: string) => path.join(dir, name)

const resolveRun = (files: readonly string[], out: string, ...more: string[]) => [
  ...['resolve', 'run', '--lens', 'persons', '--data', ...files.map(at), '--out', at(out)],
  ...more,
]

/** A fault of every kind; a quoted line break and an empty line move the lines. */
const faulty = [
  'id,given_name,surname',
  '1,"Ann\nMary",Smith',
  '',
  '2,Bo',
  '3,Cy,Jones,x',
  ',Di,Ueda',
  '1,Ed,Young',
  '4,F"lo,Ames',
  '5,"G"u,Burr',
  '6,\0,Cole',
  '7,Hal,Dunn',
  '8,"Ida,Eads',
  '9,Jo,Fry',
]
const reasons = [
  'line 5: 2 fields, and the first line names 3',
  'line 6: more than the 3 fields that the first line names',
  'line 7: no id',
  'line 8: the id "1" is that of line 2 too',
  'line 9: a quotation mark in the middle of field 2',
  'line 10: text after the closing quotation mark of field 2',
  'line 11: a NUL byte',
  'line 13: the file ends within quotation marks',
]

test('of every kind are counted, and named with their lines', async () => {
  writeFileSync(at('faulty.csv'), faulty.join('\n'))
  const ended = await runCommand(resolveRun(['faulty.csv'], 'refused'))
  expect(ended).toMatchObject({ exit: 1, stdout: '' })
  expect(ended.stderr).toBe(
    [
      `error: ${at('faulty.csv')} cannot be read: 8 rows are bad`,
      ...reasons.map((reason) => `  ${reason}`),
      '  fill the ids, or --make-ids; correct the repeated ids, or name another column (--id-field); --skip-bad-rows leaves bad rows out\n',
    ].join('\n'),
  )
})

test('are left out on request, and reported; the others are read', async () => {
  writeFileSync(at('faulty.csv'), faulty.join('\n'))
  const ended = await runCommand(resolveRun(['faulty.csv'], 'skipped', '--skip-bad-rows'))
  expect(ended.exit).toBe(0)
  expect(ended.stderr).toContain(`${at('faulty.csv')}: 8 bad rows left out: ${reasons.join('; ')}`)
  const { sources } = JSON.parse(readFileSync(at('skipped/run.json'), 'utf8'))
  expect(sources).toMatchObject([{ records: 3, read_as: { rows: 3, bad_rows: 8 } }])
  expect(sources[0].read_as.first_bad_rows[2]).toEqual({ place: 7, reason: 'no id' })
  const ids = readFileSync(at('skipped/clusters.csv'), 'utf8').trimEnd().split('\n').slice(1)
  expect(ids.map((line) => line.split(',')[1])).toEqual(['1', '7', '9'])
})

test('beyond ten are counted alone, over all files', async () => {
  const many = Array.from({ length: 5_000 }, (_, row) => `${row}`).join('\n')
  writeFileSync(at('many.csv'), `id,surname\n1,a\n${many}\n`)
  writeFileSync(at('few.csv'), 'id,surname\n1\n2,b\n')
  const ended = await runCommand(resolveRun(['few.csv', 'many.csv'], 'many'))
  const lines = ended.stderr.trimEnd().split('\n')
  expect(lines[0]).toBe('error: 2 files cannot be read: 5001 rows are bad')
  expect(lines[1]).toBe(`  ${at('few.csv')}, line 2: 1 fields, and the first line names 2`)
  expect(lines[2]).toBe(`  ${at('many.csv')}, line 3: 1 fields, and the first line names 2`)
  expect(lines[11]).toBe('  and 4991 more')
})

describe('in other formats', () => {
  test('JSON lines', async () => {
    writeFileSync(at('lines.jsonl'), '{"id":1,"surname":"a"}\n\n{"id":2\n[]\n{"surname":"b"}\n{"id":1,"surname":"c"}\n')
    const ended = await runCommand(resolveRun(['lines.jsonl'], 'lines'))
    expect(ended.stderr.split('\n').slice(1, 5)).toEqual([
      '  line 3: the line is not JSON',
      '  line 4: the line is not an object: write each record as a line such as {"id": "1", "name": "Ann"}',
      '  line 5: no id',
      '  line 6: the id "1" is that of line 1 too',
    ])
  })

  test('Parquet, whose records have numbers', async () => {
    const rows = [
      ['1', 'a'],
      [null, 'b'],
      ['1', 'c'],
      ['4', 'd'],
    ] as const
    writeFileSync(at('table.parquet'), encodeParquet(['id', 'surname'], rows))
    const ended = await runCommand(resolveRun(['table.parquet'], 'parquet'))
    expect(ended.stderr).toContain('  record 2: no id\n  record 3: the id "1" is that of record 1 too\n')
    expect((await runJsonCommand(resolveRun(['table.parquet'], 'left', '--skip-bad-rows'))).records).toBe(2)
  })
})

test('an id that is missing is made on request, and one that comes twice is bad still', async () => {
  writeFileSync(at('ids.csv'), 'id,surname\n,a\n1,b\n1,c\n')
  const ended = await runCommand(resolveRun(['ids.csv'], 'ids', '--make-ids'))
  expect(ended.stderr).toContain(`${at('ids.csv')}, line 4: the id "1" is that of line 3 too`)
  const skipped = await runJsonCommand(resolveRun(['ids.csv'], 'made', '--make-ids', '--skip-bad-rows'))
  expect(skipped.records).toBe(2)
})

test('a file without a good row is refused, also where bad ones are left out', async () => {
  writeFileSync(at('none.csv'), 'id,surname\n1\n2\n')
  const ended = await runCommand(resolveRun(['none.csv'], 'none', '--skip-bad-rows'))
  expect(ended).toMatchObject({ exit: 1 })
  expect(ended.stderr).toContain('no row is left: state how the file is read')
})

test('a proposal of a lens reports them too, and leaves them out on request', async () => {
  writeFileSync(at('sample.csv'), 'id,surname\n1,Smith\n2\n3,Jones\n')
  const words = ['resolve', 'lens', 'init', '--data', at('sample.csv')]
  const ended = await runCommand(words)
  expect(ended).toMatchObject({ exit: 1 })
  expect(ended.stderr).toContain('line 3: 1 fields, and the first line names 2')
  const skipped = await runJsonCommand([...words, '--skip-bad-rows'])
  expect(skipped.sources).toMatchObject([{ records: 2, read_as: { bad_rows: 1 } }])
})

test('labels, truth and decisions with bad rows are refused with all of them', async () => {
  writeFileSync(at('two.csv'), 'id,surname\n1,Smith\n2,Smith\n')
  writeFileSync(at('labels.csv'), 'id,cluster\n1\n2\n')
  const words = ['resolve', 'lens', 'train', '--lens', 'persons', '--data', at('two.csv'), '--labels', at('labels.csv')]
  expect((await runCommand(words)).stderr).toContain('cannot be read: 2 rows are bad\n  line 2: 1 fields')
})
