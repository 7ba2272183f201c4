// Files as their programs save them: encoding, delimiter and quotation marks are found, stated and reported by every command.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createScratchFolder, type Json, runCommand, runJsonCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('found-formats')
afterAll(remove)
const at = (name: string) => path.join(dir, name)

const german = [
  ['id', 'given_name', 'surname', 'city', 'Umsatz'],
  ['1', 'Jürgen', 'Müller', 'Köln', '3,50'],
  ['2', 'Jörg', 'Groß "der Alte"', 'Bad\nTölz', '4,20'],
  ['3', 'Änne', 'Weiß; geb. Roß', 'Lübeck', '1.000,00'],
  ['4', 'Jürgen', 'Müller', 'Köln', '3,50'],
]
const tableOf = (delimiter: string, end = '\r\n') =>
  `${german
    .map((row) => row.map((cell) => (/[";\n\t]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(delimiter))
    .join(end)}${end}`

/** As a program saves it; letters beyond Latin-1 are not in the table. */
type SavedFile = readonly [what: string, name: string, bytes: Uint8Array, read_as: Json, remark: string]
const excel: SavedFile = [
  'CSV of Excel in German',
  'excel.csv',
  Buffer.from(tableOf(';'), 'latin1'),
  { format: 'csv', encoding: 'windows-1252', delimiter: ';', quote: '"', rows: 4, bad_rows: 0 },
  'excel.csv was read as Windows-1252 (--encoding states another); values between semicolons\n',
]
const saved: readonly SavedFile[] = [
  excel,
  [
    'CSV UTF-8 of Excel in German',
    'excel-utf8.csv',
    Buffer.from(`\ufeff${tableOf(';')}`),
    { format: 'csv', encoding: 'utf-8', delimiter: ';', quote: '"', rows: 4, bad_rows: 0 },
    'excel-utf8.csv was read as values between semicolons\n',
  ],
  [
    'Unicode text of Excel',
    'excel.txt',
    Buffer.from(`\ufeff${tableOf('\t')}`, 'utf16le'),
    { format: 'csv', encoding: 'utf-16le', delimiter: '\t', quote: '"', rows: 4, bad_rows: 0 },
    'excel.txt was read as UTF-16LE; values between tabs\n',
  ],
  [
    'UTF-16BE without a mark',
    'plain.txt',
    Buffer.from(tableOf('|', '\n'), 'utf16le').swap16(),
    { format: 'csv', encoding: 'utf-16be', delimiter: '|', quote: '"', rows: 4, bad_rows: 0 },
    'plain.txt was read as UTF-16BE (--encoding states another); values between bars\n',
  ],
]

const resolveRun = (file: string, out: string, ...more: string[]) => [
  ...['resolve', 'run', '--lens', 'persons', '--data', at(file), '--out', at(out)],
  ...more,
]
const clustersOf = (out: string) => readFileSync(at(`${out}/clusters.csv`), 'utf8').replaceAll(/^[^,]*,/gm, '')

describe('a file as a program saves it gives the clusters of plain CSV, and its form is reported', () => {
  test.each(saved)('%s', async (what, name, bytes, read_as, remark) => {
    const commas = german.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','))
    writeFileSync(at('commas.csv'), commas.join('\n'))
    writeFileSync(at(name), bytes)
    const plain = await runCommand(resolveRun('commas.csv', `plain ${what}`, '--accept-poor'))
    expect(plain).toMatchObject({ exit: 0, stderr: '' })
    const ended = await runCommand(resolveRun(name, what, '--accept-poor'))
    expect(ended).toMatchObject({ exit: 0, stderr: remark })
    expect(clustersOf(what)).toBe(clustersOf(`plain ${what}`))
    expect(JSON.parse(readFileSync(at(`${what}/run.json`), 'utf8')).sources).toEqual([
      { name, records: 4, read_as: { ...read_as, not_compared: { count: 1, first: ['Umsatz'] } } },
    ])
  })

  test('by lens init, lens train, lens charts and match as well', async () => {
    const [, name, bytes, read_as, remark] = excel
    const remarks = `${remark}${name}: not compared: Umsatz (\`platform resolve lens init --data FILE\` proposes a lens with them)\n`
    writeFileSync(at(name), bytes)
    const init = await runCommand(['resolve', 'lens', 'init', '--data', at(name), '--json'])
    expect(init).toMatchObject({ exit: 0, stderr: remark })
    expect(JSON.parse(init.stdout).sources).toMatchObject([{ records: 4, read_as }])
    for (const words of ['train', 'charts']) {
      const ended = await runCommand(['resolve', 'lens', words, '--lens', 'persons', '--data', at(name)])
      expect(ended, words).toMatchObject({ exit: 0, stderr: words === 'train' ? remarks : remark })
    }
    const registry = at('entities.jsonl')
    await runCommand(resolveRun(name, 'kept', '--registry', registry, '--keep-records', '--accept-poor'))
    const match = ['resolve', 'match', '--lens', 'persons', '--registry', registry, '--data', at(name)]
    expect(await runCommand(match)).toMatchObject({ exit: 0, stderr: remarks })
  })
})

describe('a statement wins', () => {
  test('over the encoding that is found', async () => {
    writeFileSync(at('odd.csv'), Buffer.from('id,given_name,surname\n1,Ji\xc3\xad,Dvo\xc5\x99ak\n', 'latin1'))
    const stated = resolveRun('odd.csv', 'stated encoding', '--encoding', 'latin-1')
    expect((await runJsonCommand(stated)).sources[0].read_as.encoding).toBe('latin-1')
    expect((await runJsonCommand(resolveRun('odd.csv', 'found'))).sources[0].read_as.encoding).toBe('utf-8')
  })

  test('over the delimiter that is found, and an ending of tabs', async () => {
    writeFileSync(at('both.csv'), 'id,x;given_name,y;surname,z\n1,a;2,b;3,c\n')
    const found = await runCommand(resolveRun('both.csv', 'both', '--id-field', 'id,x', '--json'))
    expect(found).toMatchObject({ exit: 1 })
    const stated = resolveRun('both.csv', 'stated', '--delimiter', ',', '--columns', 'given_name=x;given_name')
    expect((await runJsonCommand(stated)).sources[0].read_as.delimiter).toBe(',')
    writeFileSync(at('names.tsv'), 'id\tgiven_name\tsurname\n1\ta;b\tc;d\n')
    expect((await runJsonCommand(resolveRun('names.tsv', 'tabs'))).sources[0].read_as.delimiter).toBe('\t')
  })

  test('but not over a byte order mark, and says so', async () => {
    writeFileSync(at('mark.csv'), '\ufeffid,given_name,surname\n1,Änne,Weiß\n')
    const ended = await runCommand(resolveRun('mark.csv', 'mark', '--encoding', 'windows-1252'))
    expect(ended.stderr).toBe('mark.csv was read as UTF-8, as its byte order mark states, and not Windows-1252\n')
  })
})

test('two delimiters that fit alike: a comma by convention, and the other one is named', async () => {
  writeFileSync(at('alike.csv'), 'id,given_name;nick,surname\n1,Ann;A,Smith\n2,Bo;B,Jones\n')
  const ended = await runCommand(resolveRun('alike.csv', 'alike'))
  expect(ended.stderr).toBe('alike.csv was read as semicolons give 2 columns as well (--delimiter states one)\n')
})

test('a single column is read, whatever its texts have', async () => {
  writeFileSync(at('single.csv'), 'surname\nSmith, Ann\nJones; Bo\nSmith, Ann\n')
  const ended = await runCommand(resolveRun('single.csv', 'single', '--make-ids', '--json'))
  expect(ended.stderr).toContain('single.csv was read as one column')
  expect(JSON.parse(ended.stdout)).toMatchObject({ records: 3, commonest: { surname: 2 } })
  // Or is a name missing in the first line?
  writeFileSync(at('single.csv'), 'surname\nSmith, Ann\nJones, Bo\n')
  const refused = await runCommand(resolveRun('single.csv', 'refused', '--make-ids'))
  expect(refused).toMatchObject({ exit: 1 })
  expect(refused.stderr).toContain('read as one name and 2 values (of one column: --delimiter with a character that')
  const stated = resolveRun('single.csv', 'stated column', '--make-ids', '--delimiter', '|')
  expect((await runJsonCommand(stated)).records).toBe(2)
})

test('JSON lines in Windows-1252 are read', async () => {
  writeFileSync(at('people.jsonl'), Buffer.from('{"id":1,"given_name":"Jürgen","surname":"Groß"}\n', 'latin1'))
  expect((await runJsonCommand(resolveRun('people.jsonl', 'lines'))).sources).toMatchObject([
    { read_as: { format: 'jsonl', encoding: 'windows-1252', rows: 1 } },
  ])
})

test('the threshold is that of the option, and a registry stays with it', async () => {
  const people = Array.from({ length: 60 }, (_, at_row) => {
    const person = at_row % 40
    return `${at_row},${person < 20 ? 'Ann' : 'Bo'}${person % 7},Smith${person},${10_000 + person}`
  })
  writeFileSync(at('cut.csv'), ['id,given_name,surname,postcode', ...people].join('\n'))
  const registry = at('cut.jsonl')
  const keep = ['--registry', registry, '--keep-records', '--accept-poor']
  const high = await runJsonCommand(resolveRun('cut.csv', 'high', '--threshold', '500', '--accept-poor'))
  expect(high.clusters).toBe(0)
  const low = await runJsonCommand(resolveRun('cut.csv', 'low', '--threshold', '-0.5', ...keep))
  expect(low.clusters).toBeGreaterThan(0)
  const match = ['resolve', 'match', '--lens', 'persons', '--registry', registry, '--data', at('cut.csv')]
  expect(await runCommand(match)).toMatchObject({ exit: 3 })
  expect(await runCommand([...match, '--threshold', '-0.5'])).toMatchObject({ exit: 0 })
})
