// Files that are landed: types that hold for every row, values as they were, rejects with their places, and the whole folder or none.
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readParquet } from '../../adapters/format/parquet/read-parquet.ts'
import { landedDataset } from '../../daemon/kernel/data/landed-dataset.ts'
import { usualLimits } from '../../daemon/kernel/data/read-options.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { spawnCommand } from '../support/command/run-command-process.ts'
import { encodeParquet } from '../support/data/encode-blocks.ts'
import { listRows, memoryRanges } from '../support/data/memory-source.ts'

const { dir, remove } = createScratchFolder('land')
afterAll(remove)
const at = (name: string) => path.join(dir, name)

const landWords = (files: readonly string[], out: string, ...more: string[]) => [
  ...['ingest', 'land', ...files.map(at), '--out', at(out)],
  ...more,
]
const land = (files: readonly string[], out: string, ...more: string[]) =>
  runJsonCommand(landWords(files, out, ...more))

async function readLanded(out: string): Promise<(string | null)[][]> {
  const names = readdirSync(at(out))
    .filter((name) => name.endsWith('.parquet'))
    .sort()
  const tables = names.map((name) =>
    listRows(
      readParquet(memoryRanges(readFileSync(path.join(at(out), name))), '|', {
        limits: usualLimits,
        isSelected: () => true,
      }),
    ),
  )
  return (await Promise.all(tables)).flatMap(({ rows }) => rows)
}

const readRejects = (out: string): unknown[] =>
  readFileSync(path.join(at(out), 'rejects.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

const drafts = () => readdirSync(dir).filter((name) => name.endsWith('.partial'))

const typesOf = ({ columns }: { columns: { name: string; type: string }[] }) =>
  Object.fromEntries(columns.map(({ name, type }) => [name, type]))

test('a file of text lands with its types, and its values as they were', async () => {
  const rows = [
    ['id', 'code', 'amount', 'paid_on', 'seen', 'local', 'ok', 'note', 'empty'],
    ['1', '007', '2.5', '2024-02-29', '2024-02-29T13:00:00Z', '2024-02-29T13:00:00', 'true', 'a; b', ''],
    ['2', '042', '3', '1969-12-31', '1969-12-31T23:59:59.5Z', '0001-01-01T00:00:00', 'false', 'ü', ''],
    ['-3', '', '', '', '', '', '', '', ''],
  ]
  writeFileSync(
    at('all.csv'),
    rows.map((row) => row.map((cell) => (cell.includes(';') ? `"${cell}"` : cell)).join(';')).join('\n'),
  )
  const { stderr } = await runCommand(landWords(['all.csv'], 'noted'))
  expect(stderr).toBe(`${at('all.csv')} is read as values between semicolons\n`)
  const dataset = await land(['all.csv'], 'all')
  expect(typesOf(dataset)).toEqual({
    ...{ id: 'int64', code: 'text', amount: 'double', paid_on: 'date', seen: 'timestamp' },
    ...{ local: 'local_timestamp', ok: 'boolean', note: 'text', empty: 'text' },
  })
  expect(await readLanded('all')).toEqual(rows.slice(1).map((row) => row.map((cell) => (cell === '' ? null : cell))))
  expect(landedDataset.parse(JSON.parse(readFileSync(path.join(at('all'), 'dataset.json'), 'utf8')))).toEqual(dataset)
})

test('the description has the digests of the files and of the inputs', async () => {
  writeFileSync(at('digest.csv'), 'a,b\n1,x\n')
  const { files, inputs, rows, rejects } = await land(['digest.csv'], 'digest')
  const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
  const [only] = files
  const landed = path.join(at('digest'), only.name)
  expect(files).toEqual([{ name: only.name, bytes: statSync(landed).size, sha256: digest(landed), rows: 1 }])
  const read_as = { format: 'csv', encoding: 'utf-8', delimiter: ',', quote: '"' }
  expect(inputs).toEqual([
    { name: 'digest.csv', bytes: 8, sha256: digest(at('digest.csv')), read_as, rows: 1, rejects: 0 },
  ])
  expect({ rows, rejects }).toEqual({ rows: 1, rejects: { rows: 0 } })
})

test('the same input gives the same bytes', async () => {
  writeFileSync(at('same.csv'), 'a,b\n1,x\n2,\n')
  await land(['same.csv'], 'same-1')
  await land(['same.csv'], 'same-2')
  for (const name of readdirSync(at('same-1')))
    expect(readFileSync(path.join(at('same-2'), name)).equals(readFileSync(path.join(at('same-1'), name)))).toBe(true)
})

describe('a later value that the first rows do not announce', () => {
  test.each([
    ['an integer with decimals', '12.5', 'double', '12.5'],
    ['a word', 'n/a', 'text', 'n/a'],
  ])('widens the type: %s', async (_, value, type, text) => {
    writeFileSync(at('first.csv'), 'amount,name\n1,a\n2,b\n')
    writeFileSync(at('second.csv'), `name,amount\nc,${value}\n`)
    const dataset = await land(['first.csv', 'second.csv'], `widened-${type}`)
    expect(typesOf(dataset)).toEqual({ amount: type, name: 'text' })
    expect(dataset.widened).toEqual([
      { column: 'amount', from: 'int64', to: type, input: 'second.csv', place: 2, value },
    ])
    expect(await readLanded(`widened-${type}`)).toEqual([
      ['1', 'a'],
      ['2', 'b'],
      [text, 'c'],
    ])
    expect(dataset.rejects).toEqual({ rows: 0 })
  })

  test('types a column that was empty at first', async () => {
    writeFileSync(at('empty-first.csv'), 'a,b\nx,\n')
    writeFileSync(at('empty-second.csv'), 'a,b\ny,5\n')
    expect(typesOf(await land(['empty-first.csv', 'empty-second.csv'], 'empty-later'))).toEqual({
      a: 'text',
      b: 'int64',
    })
  })

  test('adds a column', async () => {
    writeFileSync(at('keys.jsonl'), '{"a": 1}\n')
    writeFileSync(at('more.jsonl'), '{"b": true, "a": 2}\n')
    const dataset = await land(['keys.jsonl', 'more.jsonl'], 'more-keys')
    expect(typesOf(dataset)).toEqual({ a: 'int64', b: 'boolean' })
    expect(await readLanded('more-keys')).toEqual([
      ['1', null],
      ['2', 'true'],
    ])
  })

  test('in the same file, many blocks later', async () => {
    // A block has two million values: of 2,000 columns, some thousand rows.
    const columns = 2_000
    const row = (value: string) => [value, ...Array.from({ length: columns - 1 }, () => '')].join(',')
    const header = Array.from({ length: columns }, (_, column) => `c${column}`).join(',')
    writeFileSync(
      at('wide.csv'),
      [header, ...Array.from({ length: 2_500 }, (_, each) => row(String(each))), row('late')].join('\n'),
    )
    const dataset = await land(['wide.csv'], 'wide')
    expect(dataset.columns[0]).toEqual({ name: 'c0', type: 'text' })
    expect(dataset.widened).toMatchObject([{ column: 'c0', to: 'text', place: 2_502, value: 'late' }])
    expect(dataset.rows).toBe(2_501)
  })
})

describe('a record that does not fit', () => {
  const columns = (...list: object[]) => writeFileSync(at('columns.json'), JSON.stringify(list))

  test('a stated type is left out, and kept with its place and reason', async () => {
    columns({ name: 'paid_on', type: 'date' }, { name: 'id', type: 'int32', required: true })
    writeFileSync(
      at('misfits.csv'),
      'id,paid_on,note\n1,2024-02-29,"a\nb"\n2,29.02.2024,x\n,2024-03-01,y\n3,2024-03-02,z\n4\n',
    )
    const dataset = await land(['misfits.csv'], 'misfits', '--columns-file', at('columns.json'), '--max-rejects', '3')
    expect(typesOf(dataset)).toEqual({ id: 'int32', paid_on: 'date', note: 'text' })
    expect(readRejects('misfits')).toEqual([
      {
        input: 'misfits.csv',
        line: 4,
        column: 'paid_on',
        reason: '"paid_on" is "29.02.2024"; it must be date',
        record: '{"id":"2","paid_on":"29.02.2024","note":"x"}',
      },
      {
        input: 'misfits.csv',
        line: 5,
        column: 'id',
        reason: '"id" is missing; it must be int32',
        record: '{"paid_on":"2024-03-01","note":"y"}',
      },
      { input: 'misfits.csv', line: 7, reason: '1 fields, and the first line names 3', record: '4' },
    ])
    expect(dataset.rejects).toMatchObject({ rows: 3, file: { name: 'rejects.jsonl' } })
    expect(dataset.inputs).toMatchObject([{ rows: 2, rejects: 3 }])
    expect(await readLanded('misfits')).toEqual([
      ['1', '2024-02-29', 'a\nb'],
      ['3', '2024-03-02', 'z'],
    ])
  })

  test.each([
    ['a share', '5%', 5, 'at most 5 % may be'],
    ['a number', '5', 5, 'at most 5 may be'],
  ])('ends the command beyond %s of all', async (_, limit, allowed, words) => {
    const file = (bad: number) => `a,b\n${'1,2\n'.repeat(100 - bad)}${'1\n'.repeat(bad)}`
    writeFileSync(at('few.csv'), file(allowed))
    writeFileSync(at('many.csv'), file(allowed + 1))
    expect(await land(['few.csv'], `few-${limit}`, '--max-rejects', limit)).toMatchObject({ rows: 95 })
    const ended = await runCommand(landWords(['many.csv'], `many-${limit}`, '--max-rejects', limit))
    expect(ended).toMatchObject({ exit: 1, stdout: '' })
    expect(ended.stderr).toMatch(/^error: 6 of (the first )?100 records do not fit \(6\.00 %\); /)
    expect(ended.stderr).toContain(`${words}\n  many.csv, line 96: 1 fields`)
    expect([existsSync(at(`many-${limit}`)), drafts()]).toEqual([false, []])
  })

  test('is numbered in a JSON document, beside its text', async () => {
    writeFileSync(at('listed.json'), '[{"n":1},{"n":"x"},{"n":3}]')
    columns({ name: 'n', type: 'int32' })
    await land(['listed.json'], 'listed', '--columns-file', at('columns.json'), '--max-rejects', '1')
    expect(readRejects('listed')).toMatchObject([{ input: 'listed.json', number: 2, record: '{"n":"x"}' }])
  })

  test('is kept in part where it is long', async () => {
    writeFileSync(at('long.csv'), `a,b\n${'1,2\n'.repeat(99)}${'x'.repeat(10_000)}\n`)
    await land(['long.csv'], 'long')
    expect(readRejects('long')).toMatchObject([{ record: 'x'.repeat(2_000), truncated: true }])
  })
})

describe('refuses, and writes nothing,', () => {
  test.each<[string, string[], number, RegExp]>([
    ['a name that exists', ['--out', 'taken'], 3, /taken already exists/],
    ['a folder that does not exist', ['--out', 'no/where'], 1, /where cannot be written: its folder does not exist/],
    [
      'columns that no input has',
      ['--columns-file', 'absent.json'],
      1,
      /no input has the column "c"\n {2}the inputs have "a"/,
    ],
    ['types that do not exist', ['--columns-file', 'wrong.json'], 2, /wrong\.json does not state columns: 0\.type/],
    ['a document other than a list of columns', ['--columns-file', 'plain.csv'], 2, /does not state columns/],
    ['a limit that is none', ['--max-rejects', '101%'], 2, /must be a number of records, or a share/],
  ])('%s', async (_, [option = '', value = ''], exit, message) => {
    mkdirSync(at('taken'), { recursive: true })
    writeFileSync(at('plain.csv'), 'a\n1\n')
    writeFileSync(at('absent.json'), '[{"name": "c", "type": "date"}]')
    writeFileSync(at('wrong.json'), '[{"name": "a", "type": "money"}]')
    const isPath = option !== '--max-rejects'
    const out = option === '--out' ? [] : ['--out', at('refused')]
    const ended = await runCommand(['ingest', 'land', at('plain.csv'), ...out, option, isPath ? at(value) : value])
    expect(ended).toMatchObject({ exit, stdout: '' })
    expect(ended.stderr).toMatch(message)
    expect([existsSync(at('refused')), readdirSync(at('taken')), drafts()]).toEqual([false, [], []])
  })

  test('a file that is not what its name says', async () => {
    writeFileSync(at('parquet.csv'), encodeParquet(['a'], [['1']]))
    const ended = await runCommand(landWords(['parquet.csv'], 'refused'))
    expect(ended).toMatchObject({ exit: 1 })
    expect(ended.stderr).toMatch(/parquet\.csv cannot be read as text: it is Parquet\n {2}name it \.parquet/)
  })
})

test('Parquet keeps the types that it states', async () => {
  writeFileSync(at('texts.parquet'), encodeParquet(['id'], [['1'], ['2']]))
  expect(typesOf(await land(['texts.parquet'], 'texts'))).toEqual({ id: 'text' })
})

test('standard input lands', async () => {
  const ended = await runCommand(['ingest', 'land', '-', '--out', at('piped'), '--json'], { input: 'a,b\n1,x\n' })
  expect(JSON.parse(ended.stdout)).toMatchObject({ rows: 1, inputs: [{ name: 'stdin' }] })
})

test('a collection of features lands with its properties, ids and geometries', async () => {
  const point = { type: 'Point', coordinates: [1.5, 2] }
  const features = [
    { type: 'Feature', id: 1, properties: { name: 'A', size: 3 }, geometry: point },
    { type: 'Feature', id: 2, properties: { name: 'B', more: { deep: 1 } }, geometry: null },
  ]
  writeFileSync(at('places.geojson'), JSON.stringify({ type: 'FeatureCollection', features }))
  const described = await land(['places.geojson'], 'places')
  expect(typesOf(described)).toMatchObject({ feature_id: 'int64', name: 'text', size: 'int64', geometry: 'text' })
  expect(await readLanded('places')).toEqual([
    ['1', 'A', '3', JSON.stringify(point), null],
    ['2', 'B', null, null, '{"deep":1}'],
  ])
})

test('an interrupt leaves nothing', async () => {
  writeFileSync(at('large.csv'), `a,b\n${'1,2\n'.repeat(8_000_000)}`)
  const child = spawnCommand(landWords(['large.csv'], 'interrupted'))
  child.stdin?.end()
  let stderr = ''
  child.stderr?.on('data', (part: Buffer) => (stderr += part.toString()))
  const closed = new Promise((resolve) => child.once('close', resolve))
  await expect.poll(drafts, { interval: 10 }).not.toEqual([])
  child.kill('SIGINT')
  expect(await closed).toBe(1)
  expect(stderr).toBe('error: interrupted; nothing was written\n')
  expect([existsSync(at('interrupted')), drafts()]).toEqual([false, []])
})

test('the summary names what landed, and why a column is wider', async () => {
  writeFileSync(at('sales.csv'), 'id,amount\n1,5\n2,n/a\n')
  const { stdout } = await runCommand(landWords(['sales.csv'], 'summary'))
  expect(stdout).toContain('rows      2 in 2 columns')
  expect(stdout).toMatch(/amount +text +line 3 is "n\/a"/)
  writeFileSync(at('sales.xml'), '<l><i><a>5</a></i><i><a>n/a</a></i></l>')
  expect((await runCommand(landWords(['sales.xml'], 'of-records'))).stdout).toMatch(/a +text +record 2 is "n\/a"/)
})

describe('a JSON document', () => {
  const document = {
    total: 2,
    data: {
      items: [
        { id: 1, tags: { a: 1 }, at: '2024-02-29' },
        { id: 2.5, name: 'ü' },
      ],
    },
  }

  test('lands by its only list of objects; what is nested is JSON', async () => {
    writeFileSync(at('document.json'), JSON.stringify(document, undefined, 2))
    const dataset = await land(['document.json'], 'document')
    expect(typesOf(dataset)).toEqual({ id: 'double', tags: 'text', at: 'date', name: 'text' })
    expect(dataset.inputs[0].read_as).toMatchObject({ format: 'json', pointer: '/data/items' })
    expect(await readLanded('document')).toEqual([
      ['1', '{"a":1}', '2024-02-29', null],
      ['2.5', null, null, 'ü'],
    ])
  })

  test('with several lists needs the pointer to one', async () => {
    writeFileSync(at('lists.json'), JSON.stringify({ ...document, other: [{ b: true }] }))
    const ended = await runCommand(landWords(['lists.json'], 'lists'))
    expect(ended.stderr).toContain(
      'lists.json has several lists of objects: /data/items, /other\n  name one: `--pointer',
    )
    expect(typesOf(await land(['lists.json'], 'lists', '--pointer', '/other'))).toEqual({ b: 'boolean' })
  })

  test('of JSON lines is read as such', async () => {
    writeFileSync(at('lines.json'), '{"a": 1}\n{"a": 2}\n')
    expect(await land(['lines.json'], 'lines')).toMatchObject({ rows: 2, inputs: [{ read_as: { format: 'jsonl' } }] })
  })
})

describe('an XML document', () => {
  const library =
    '<?xml version="1.0" encoding="ISO-8859-1"?><library><book id="1"><title>B\u00fccher</title><author>A</author><author>B</author></book><book id="2"><title/><year>1999</year></book></library>'

  test('lands by its only repeated elements, in the encoding that it declares', async () => {
    writeFileSync(at('library.xml'), library, 'latin1')
    const dataset = await land(['library.xml'], 'library')
    expect(typesOf(dataset)).toEqual({ id: 'int64', title: 'text', author: 'text', year: 'int64' })
    expect(dataset.inputs[0].read_as).toMatchObject({ format: 'xml', encoding: 'latin-1', pointer: '/library/book' })
    expect(await readLanded('library')).toEqual([
      ['1', 'B\u00fccher', 'A|B', null],
      ['2', null, null, '1999'],
    ])
  })

  test('needs the path where several elements repeat, and is refused in an encoding that is not read', async () => {
    writeFileSync(at('kinds.xml'), '<db><a k="1"/><a k="2"/><b k="3"/><b k="4"/></db>')
    const ended = await runCommand(landWords(['kinds.xml'], 'kinds'))
    expect(ended.stderr).toContain(
      'kinds.xml has several kinds of repeated elements: /db/a, /db/b\n  name one: `--pointer',
    )
    expect(await land(['kinds.xml'], 'kinds', '--pointer', '/db/b')).toMatchObject({ rows: 2 })
    writeFileSync(at('other.xml'), library.replace('ISO-8859-1', 'Shift_JIS'), 'latin1')
    const other = await runCommand(landWords(['other.xml'], 'other'))
    expect(other.stderr).toContain('other.xml is XML in Shift_JIS, which is not read')
  })

  test('rejects the elements that would lose values, by their number', async () => {
    writeFileSync(at('mixed.xml'), '<l><i>1</i><i><p>a <b>c</b></p></i></l>')
    const ended = await runCommand([...landWords(['mixed.xml'], 'mixed'), '--max-rejects', '1', '--json'])
    expect(JSON.parse(ended.stdout)).toMatchObject({ rows: 1, inputs: [{ rejects: 1 }] })
    expect(readFileSync(path.join(at('mixed'), 'rejects.jsonl'), 'utf8')).toContain(
      '"number":2,"reason":"\\"p\\" has text between its elements"',
    )
  })
})

test('an Avro file lands with the types that it states; what is nested is JSON', async () => {
  copyFileSync(path.join(import.meta.dirname, '../support/data/avro/people-deflate.avro'), at('people.avro'))
  const dataset = await land(['people.avro'], 'avro')
  expect(dataset).toMatchObject({ rows: 2, inputs: [{ read_as: { format: 'avro' } }] })
  expect(typesOf(dataset)).toMatchObject({
    id: 'int64',
    age: 'int32',
    seen: 'timestamp',
    born: 'date',
    address: 'text',
  })
  expect((await readLanded('avro'))[0]).toContain('{"city":"Bonn","zip":null}')
})
