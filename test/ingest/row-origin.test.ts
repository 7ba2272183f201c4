// Where the rows of a landed dataset come from, by `platform ingest origin`: the file, and the place that a person finds in it.
import { createHash } from 'node:crypto'
import { appendFileSync, cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { encodeParquet } from '../support/data/encode-blocks.ts'
import { encodeXlsx, sheetOf } from '../support/data/write-xlsx.ts'

const { dir, remove } = createScratchFolder('row-origin')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
const digest = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')

const land = async (files: readonly string[], out: string, ...more: string[]) =>
  await runJsonCommand(['ingest', 'land', ...files.map(at), '--out', at(out), '--max-rejects', '10', ...more])
const originWords = (out: string, ...more: string[]) => ['ingest', 'origin', at(out), ...more]

/** Input, unit and place of each row. */
async function placesOf(out: string, rows: number): Promise<string[]> {
  const places: string[] = []
  for (let row = 1; row <= rows; row++) {
    const found = await runJsonCommand(originWords(out, '--row', String(row)))
    const [{ name, unit, place }] = found.rows[0].inputs
    places.push(`${name} ${unit} ${place}`)
  }
  return places
}

const people = 'id,name,note\n1,Ann,"two\nlines"\n2,Bob,x\nbad\n\n3,Cat,"a\n\nb"\n4,Dan,y\n'
const others = 'name;id\nEve;5\nFay;6\n'

beforeAll(async () => {
  writeFileSync(at('people.csv'), people)
  writeFileSync(at('others.csv'), others)
  await land(['people.csv', 'others.csv'], 'landed')
})

test('a row comes from the line at which its record begins, whatever was left out before it', async () => {
  expect(await placesOf('landed', 6)).toEqual([
    ...['people.csv line 2', 'people.csv line 4', 'people.csv line 7', 'people.csv line 10'],
    ...['others.csv line 2', 'others.csv line 3'],
  ])
})

test('a row is found by a value, with the digest of its file and how that was read', async () => {
  const { rows, has_more } = await runJsonCommand(originWords('landed', '--where', 'name=Fay'))
  const input = {
    kind: 'file',
    name: 'others.csv',
    bytes: others.length,
    sha256: digest(others),
    unit: 'line',
    place: 3,
  }
  const manifest = digest(readFileSync(at('landed/dataset.json')))
  expect(rows).toMatchObject([{ folder: at('landed'), sha256: manifest, row: 6, made_of: 'one', inputs: [input] }])
  expect([rows[0].inputs[0].read_as.delimiter, has_more]).toEqual([';', false])
  const { stdout } = await runCommand(originWords('landed', '--row', '3'))
  expect(stdout).toBe(`row 3 of ${at('landed')}\n  line 7 of people.csv, SHA-256 ${digest(people)}\n`)
})

test('100 rows of a value are shown', async () => {
  writeFileSync(at('same.csv'), `a,b\n${'x,y\n'.repeat(101)}`)
  await land(['same.csv'], 'same')
  const { rows, has_more } = await runJsonCommand(originWords('same', '--where', 'a=x'))
  expect([rows.length, rows.at(-1).inputs[0].place, has_more]).toEqual([100, 101, true])
  const { stdout } = await runCommand(originWords('same', '--where', 'a=x'))
  expect(stdout.endsWith('\nand more rows\n')).toBe(true)
})

describe('the place has the unit of its format', () => {
  const columns = ['--columns-file', at('columns.json')]
  beforeAll(() => writeFileSync(at('columns.json'), '[{"name": "n", "type": "int32"}]'))

  test('rows of a sheet', async () => {
    const sheet = sheetOf([['n'], ['1'], [null], ['x'], ['4']])
    writeFileSync(at('sheet.xlsx'), encodeXlsx({ sheets: { One: sheet } }))
    await land(['sheet.xlsx'], 'sheet', ...columns)
    expect(await placesOf('sheet', 2)).toEqual(['sheet.xlsx row 2', 'sheet.xlsx row 5'])
  })

  test('in the part of the file that was read', async () => {
    const sheets = { One: sheetOf([['n'], ['1']]), 'Two\n': sheetOf([[null], ['n'], ['5'], ['6']]) }
    writeFileSync(at('book.xlsx'), encodeXlsx({ sheets }))
    await land(['book.xlsx'], 'book', '--sheet', '2')
    const { stdout } = await runCommand(originWords('book', '--row', '2'))
    expect(stdout).toContain('\n  row 4 of "Two')
    writeFileSync(at('deep.json'), '{"a": {"b": [{"n": 1}]}}')
    await land(['deep.json'], 'deep', '--pointer', '/a/b')
    const deep = await runCommand(originWords('deep', '--row', '1'))
    expect(deep.stdout).toContain('\n  record 1 of "/a/b" of deep.json, SHA-256 ')
  })

  test.each([
    ['JSON', 'list.json', '[{"n": 1}, {"n": "x"},\n\n{"n": 3}]'],
    ['XML', 'list.xml', '<l><i><n>1</n></i><i><n>x</n></i><i><n>3</n></i></l>'],
    ['Parquet', 'list.parquet', encodeParquet(['n'], [['1'], ['x'], ['3']])],
  ])('records of %s', async (_, name, content) => {
    writeFileSync(at(name), content)
    await land([name], `of-${name}`, ...columns)
    expect(await placesOf(`of-${name}`, 2)).toEqual([`${name} record 1`, `${name} record 3`])
  })

  test('lines of JSON', async () => {
    writeFileSync(at('list.jsonl'), '{"n": 1}\n\n{"n": "x"}\n{"n": 4}\n')
    await land(['list.jsonl'], 'of-lines', ...columns)
    expect(await placesOf('of-lines', 2)).toEqual(['list.jsonl line 1', 'list.jsonl line 4'])
  })
})

test('the places are those of the rows that landed where types became wider on the way', async () => {
  writeFileSync(at('narrow.csv'), 'a\n1\n2\n')
  writeFileSync(at('wide.csv'), 'a\n\n"x\ny"\n3\n')
  await land(['narrow.csv', 'wide.csv'], 'widened')
  expect(await placesOf('widened', 4)).toEqual([
    'narrow.csv line 2',
    'narrow.csv line 3',
    'wide.csv line 3',
    'wide.csv line 5',
  ])
})

describe('a file of many places', () => {
  const rows = 250_000
  beforeAll(async () => {
    writeFileSync(at('many.csv'), `n,t\n${'1,"x\ny"\n'.repeat(rows)}`)
    await land(['many.csv'], 'many')
  })

  test('is read in pieces', async () => {
    const { origins } = JSON.parse(readFileSync(at('many/dataset.json'), 'utf8'))
    expect(origins[0].bytes).toBeGreaterThan(1_048_576)
    for (const row of [1, 2, 3, 4, 70_000, 177_777, rows]) {
      const found = await runJsonCommand(originWords('many', '--row', String(row)))
      expect(found.rows[0].inputs[0].place).toBe(2 * row)
    }
  })

  test('has a line for each range alone', async () => {
    writeFileSync(at('plain.csv'), `n\n${'1\n'.repeat(rows)}`)
    await land(['plain.csv'], 'plain')
    expect(readFileSync(at('plain/origins-1.jsonl'), 'utf8')).toBe(`[${rows},1]\n`)
  })
})

describe('a dataset whose places are not those that landed is refused', () => {
  test.each<[string, (file: string) => void]>([
    ['shorter', (file) => truncateSync(file, 6)],
    ['longer', (file) => appendFileSync(file, '[1,1,4]\n')],
    ['changed', (file) => writeFileSync(file, readFileSync(file, 'utf8').replace('[1,1]', '[1,2]'))],
    ['of another content', (file) => writeFileSync(file, 'x'.repeat(readFileSync(file).length))],
  ])('%s', async (name, damage) => {
    const out = `damaged-${name.replaceAll(' ', '-')}`
    cpSync(at('landed'), at(out), { recursive: true })
    damage(at(`${out}/origins-1.jsonl`))
    const ended = await runCommand(originWords(out, '--row', '1'))
    expect(ended).toMatchObject({ exit: 5, stdout: '' })
    expect(ended.stderr).toContain('origins-1.jsonl is damaged: it is not the file that landed\n  restore it')
  })

  test.each([
    ['of an input that it does not have', '[1,7,2]\n[5,0,4]\n'],
    ['of more rows than it has', '[2000000000,0,2]\n'],
    ['of no place', '[5,1]\n[1]\n'],
    ['of a line that does not end', `[1,0,2]\n${'9'.repeat(100)}`],
  ])('%s, under a description that has its digest', async (name, content) => {
    const out = `described-${name.replaceAll(' ', '-')}`
    cpSync(at('landed'), at(out), { recursive: true })
    writeFileSync(at(`${out}/origins-1.jsonl`), content)
    const manifest = JSON.parse(readFileSync(at(`${out}/dataset.json`), 'utf8'))
    Object.assign(manifest.origins[0], { bytes: content.length, sha256: digest(content) })
    writeFileSync(at(`${out}/dataset.json`), JSON.stringify(manifest))
    expect(await runCommand(originWords(out, '--row', '6'))).toMatchObject({ exit: 5, stdout: '' })
  })

  test('data of the same size, where a value is searched', async () => {
    writeFileSync(
      at('swapped.csv'),
      people.replaceAll(/Bob|Cat/g, (name) => (name === 'Bob' ? 'Cat' : 'Bob')),
    )
    await land(['swapped.csv', 'others.csv'], 'swapped')
    const [{ name }] = JSON.parse(readFileSync(at('swapped/dataset.json'), 'utf8')).files
    cpSync(at('landed'), at('other-data'), { recursive: true })
    cpSync(at(`swapped/${name}`), at(`other-data/${name}`))
    const ended = await runCommand(originWords('other-data', '--where', 'name=Bob'))
    expect(ended).toMatchObject({ exit: 5, stdout: '' })
    expect(ended.stderr).toContain(`${name} is damaged: it is not the file that landed`)
  })

  test('absent', async () => {
    cpSync(at('landed'), at('absent'), { recursive: true })
    rmSync(at('absent/origins-1.jsonl'))
    const ended = await runCommand(originWords('absent', '--row', '1'))
    expect(ended).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('origins-1.jsonl cannot be read: it does not exist'),
    })
  })
})

test('rows that are each made of many files are refused where the answer would be too long, but for one of them', async () => {
  writeFileSync(at('groups.csv'), `a,b\n${'x,y\n'.repeat(100)}`)
  await land(['groups.csv'], 'groups')
  const manifest = JSON.parse(readFileSync(at('groups/dataset.json'), 'utf8'))
  const [input] = manifest.inputs
  const inputs = Array.from({ length: 2_000 }, (_, n) => ({ ...input, name: `${'n'.repeat(2_000)}${n}.csv` }))
  writeFileSync(at('groups/dataset.json'), JSON.stringify({ ...manifest, origins: [], inputs }))
  const refused = await runCommand(originWords('groups', '--where', 'a=x'))
  expect(refused).toMatchObject({ exit: 1, stdout: '' })
  expect(refused.stderr).toContain('the rows come from too many files to show them for each row\n  name fewer of them')
  const { rows } = await runJsonCommand(originWords('groups', '--row', '1'))
  expect(rows[0].inputs).toHaveLength(2_000)
})

test('a dataset of an earlier release has its files, and says that lines are not known', async () => {
  cpSync(at('landed'), at('earlier'), { recursive: true })
  rmSync(at('earlier/origins-1.jsonl'))
  const { origins: _, ...manifest } = JSON.parse(readFileSync(at('earlier/dataset.json'), 'utf8'))
  writeFileSync(at('earlier/dataset.json'), JSON.stringify(manifest))
  const { exit, stdout } = await runCommand(originWords('earlier', '--where', 'id=3'))
  expect([exit, stdout]).toEqual([
    0,
    [
      `row 3 of ${at('earlier')}, of an earlier release, which kept no lines`,
      `  rows of people.csv, SHA-256 ${digest(people)}`,
      `  rows of others.csv, SHA-256 ${digest(others)}`,
      '',
    ].join('\n'),
  ])
})

test.each<[string, string[], number, string]>([
  ['no row', ['landed'], 2, 'name the row either by --row or by --where'],
  ['two ways', ['landed', '--row', '1', '--where', 'id=1'], 2, 'name the row either by --row or by --where'],
  ['a condition without a value', ['landed', '--where', 'id'], 2, 'it must be a column and its value, such as id=4711'],
  ['a row that is not there', ['landed', '--row', '7'], 1, 'has no row 7: it has 6'],
  ['a value that is not there', ['landed', '--where', 'id=9'], 1, 'has no row with id=9'],
  ['a column that is not there', ['landed', '--where', 'ID=9'], 1, 'has no column ID; it has id, name, note'],
  ['a folder that is not a dataset', ['.', '--row', '1'], 1, 'is not a landed dataset: it has no dataset.json'],
])('%s is refused', async (_, [out = '', ...more], exit, message) => {
  expect(await runCommand(originWords(out, ...more))).toMatchObject({ exit, stderr: expect.stringContaining(message) })
})
