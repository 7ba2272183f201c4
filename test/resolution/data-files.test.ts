// Data files of every kind: the same records from each, and for each fault one line with its cause and place.
import { execFileSync } from 'node:child_process'
import { appendFileSync, closeSync, mkdirSync, openSync, symlinkSync, writeFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { DataKind } from '../../adapters/platform/data-file/data-kinds.ts'
import { readDataFile } from '../../daemon/offline/resolve/data-file.ts'
import type { RecordSource } from '../../daemon/roles/resolution/engine/records/records.ts'
import { createScratchFolder } from '../support/command/run-command.ts'
import { encodeParquet as encodeTexts } from '../support/data/encode-blocks.ts'

const { dir, remove } = createScratchFolder('data-files')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
const all = () => true

function writeData(name: string, content: string | Uint8Array): string {
  writeFileSync(at(name), content)
  return at(name)
}

function listRows({ columns, rows, names }: RecordSource): Record<string, string>[] {
  const decoder = new TextDecoder()
  return Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const column = columns.find((each) => each.name === name)
        const code = column?.codes[row] ?? -1
        return column && code >= 0 ? [[name, decoder.decode(column.values.bytesOf(code))]] : []
      }),
    ),
  )
}

const people = [
  { id: '1', name: 'Ünal, "Bo"', city: 'Ankara' },
  { id: '2', name: '漢字' },
  { id: '3', city: 'Oslo\nNorway' },
]

describe('the same records', () => {
  const csv = 'id,name,city\n1,"Ünal, ""Bo""",Ankara\n2,漢字,\n3,,"Oslo\nNorway"\n'

  test('from CSV, with a mark at its beginning or without, of any line end', async () => {
    for (const text of [csv, `\ufeff${csv}`, csv.replaceAll(/\n(?!Norway)/g, '\r\n')]) {
      expect(listRows(await readDataFile(writeData('people.csv', text), all))).toEqual(people)
    }
  })

  test('from the same with tabs, by its ending or by the option', async () => {
    const tabs = csv.replaceAll(/,(?! "")/g, '\t')
    for (const name of ['people.tsv', 'people.TAB']) {
      expect(listRows(await readDataFile(writeData(name, tabs), all))).toEqual(people)
    }
    expect(listRows(await readDataFile(writeData('tabs.txt', tabs), all, { kind: 'tsv' }))).toEqual(people)
    await expect(readDataFile(writeData('commas.tsv', 'id,name\n1\t2\n'), all)).rejects.toThrow(
      'line 2: more than the 1 fields that the first line names',
    )
  })

  test('from JSON lines, in any order of keys, with gaps of any kind', async () => {
    const lines = [JSON.stringify(people[0]), '', '{"name":"漢字","city":null,"id":2}\r', JSON.stringify(people[2])]
    for (const name of ['people.jsonl', 'people.NDJSON']) {
      expect(listRows(await readDataFile(writeData(name, `\ufeff${lines.join('\n')}`), all))).toEqual(people)
    }
  })

  test('from CSV in UTF-16, whose byte order mark says so', async () => {
    const bytes = Buffer.from(`\ufeff${csv}`, 'utf16le')
    expect(listRows(await readDataFile(writeData('people.csv', bytes), all))).toEqual(people)
    expect(listRows(await readDataFile(writeData('people.csv', bytes.swap16()), all))).toEqual(people)
  })

  test('from Parquet', async () => {
    expect(listRows(await readDataFile(writeData('people.parquet', encodeParquet(people)), all))).toEqual(people)
  })

  test('from a file of another kind than its name suggests, by the option', async () => {
    const file = writeData('people.dat', encodeParquet(people))
    expect(listRows(await readDataFile(file, all, { kind: 'parquet' }))).toEqual(people)
  })

  test('a letter that two reads share is one letter', async () => {
    const before = 'id,name\n'
    const name = 'é'.repeat(500_000)
    const text = `${before}${Array.from({ length: 9 }, (_, row) => `${row},x${name}`).join('\n')}\n`
    const read = await readDataFile(writeData('long.csv', text), all)
    expect(listRows(read).every(({ name: found }) => found === `x${name}`)).toBe(true)
  })
})

test('JSON lines keep numbers as they were written, and lists as sets', async () => {
  const file = writeData('kinds.jsonl', '{"id":12345678901234567890,"ok":true,"price":12.5,"tags":["a",7,null]}\n')
  expect(listRows(await readDataFile(file, all))).toEqual([
    { id: '12345678901234567890', ok: 'true', price: '12.5', tags: 'a|7' },
  ])
})

describe('reports the fault of a file, and its place', () => {
  test.each<[what: string, name: string, content: string | Uint8Array, pattern: string]>([
    ['an empty file', 'bad.csv', '', ', line 1: the first line must name the columns, and the file has no line'],
    ['a doubled name', 'bad.csv', 'id,name,id\n', ', line 1: two columns have the name "id"'],
    ['too few cells', 'bad.csv', 'id,name\n1,a\n2\n', ', line 3: 1 fields, and the first line names 2'],
    ['too many cells', 'bad.csv', 'id,name\n1,a,b\n', ', line 2: more than the 2 fields that the first line names'],
    ['an open quotation', 'bad.csv', 'id,name\n1,"a\n', ', line 2: the file ends within quotation marks'],
    ['a bare mark', 'bad.csv', 'id,name\n"1",a"b\n', ', line 2: a quotation mark in the middle of field 2'],
    ['bytes of nought', 'bad.csv', 'id,name\n1,a\n2,\0\n', ', line 3: a NUL byte'],
    [
      'a damaged letter among letters of UTF-8',
      'bad.csv',
      Buffer.concat([Buffer.from('id,name\n1,Müller\n2,'), Buffer.of(0xfc), Buffer.from('\n')]),
      ', line 3: bytes that are not UTF-8',
    ],
    [
      'a byte that is no letter of Windows-1252',
      'bad.csv',
      Buffer.from('id,name\n1,M\xfcller\n2,\x8d\n', 'latin1'),
      ', line 3: bytes that are not Windows-1252',
    ],
    ['half a letter at the end', 'bad.csv', Buffer.from('id\né').subarray(0, 4), ', line 2: bytes that are not UTF-8'],
    ['a packed file', 'bad.csv', Uint8Array.of(0x1f, 0x8b, 8, 0), ' cannot be read as text: it is compressed'],
    ['a document', 'bad.csv', '%PDF-1.7\nid,name\n1,a\n', ' cannot be read as text: it is a PDF document'],
    ['an image', 'bad.jsonl', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10), ' cannot be read as text: it is an image'],
    [
      'bytes of a program',
      'bad.csv',
      Uint8Array.from({ length: 4_096 }, (_, at) => (at * 97 + (at >> 3)) % 256),
      ' cannot be read as text: it has control characters as only binary files do',
    ],
    ['Parquet by a wrong name', 'bad.csv', encodeParquet(people), ' cannot be read as text: it is Parquet'],
    [
      'no Parquet',
      'bad.parquet',
      'id,name\n1,a\n',
      ': damaged, or not a Parquet file: parquet file invalid (footer != PAR1)',
    ],
    ['no JSON', 'bad.jsonl', '{"id":1}\n{"id":\n', ', line 2: the line is not JSON'],
    [
      'a list of records',
      'bad.jsonl',
      '[{"id":1}]\n',
      ', line 1: the line is not an object: write each record as a line such as {"id": "1", "name": "Ann"}',
    ],
    [
      'an object within',
      'bad.jsonl',
      '{"id":1}\n\n{"id":2,"home":{}}\n',
      ', line 3: "home" is an object, which is not supported: write its values under keys of the record',
    ],
    [
      'lists within lists',
      'bad.jsonl',
      '{"id":1,"a":[[1]]}\n',
      ', line 1: "a" is a nested list, which is not supported: write its values under keys of the record',
    ],
  ])('%s', async (_, name, content, pattern) => {
    const file = writeData(name, content)
    await expect(readDataFile(file, all)).rejects.toMatchObject({
      name: 'OfflineCommandError',
      exit: 1,
      message: `${file}${pattern}`,
    })
  })

  test.each([
    ['csv', 'id,name\n1,a\n', 'line 3: field 1, "id", has more than 4096 bytes'],
    ['jsonl', '{"id":1}\n{"id":2}\n', 'line 3: "id" has more than 4096 bytes'],
  ] as const)('an id that is longer than any name, with other long fields: %s', async (kind, begin, pattern) => {
    const [id, long] = ['é'.repeat(2_048), 'é'.repeat(2_049)]
    const line = (one: string, other: string) =>
      kind === 'csv' ? `${one},${other}\n` : `{"id":"${one}","name":"${other}"}\n`
    const reading = { id: { name: 'id', bytes: 4_096 } }
    const good = writeData(`ids.${kind}`, `${begin}${line(id, long)}`)
    expect(listRows(await readDataFile(good, all, reading)).at(-1)).toEqual({ id, name: long })
    await expect(readDataFile(writeData(`ids.${kind}`, `${begin}${line(long, id)}`), all, reading)).rejects.toThrow(
      pattern,
    )
  })

  test('ignores columns that are not used', async () => {
    const file = writeData('extra.jsonl', '{"id":1,"home":{"x":[{}]}}\n')
    expect(listRows(await readDataFile(file, (name) => name === 'id'))).toEqual([{ id: '1' }])
  })

  test.each([
    ['csv', 'id,name\n1,"', 'line 2: field 2, "name", has more than 1048576 bytes'],
    ['csv', 'id,name\n1,', 'line 2: field 2, "name", has more than 1048576 bytes'],
    ['jsonl', '{"id":1}\n{"id":"', 'line 2: the line has more than 16777216 bytes'],
  ] as const)('a field of a hundred megabytes, which is not held: %s', async (kind, begin, pattern) => {
    const file = writeHugeFile(`huge.${kind}`, begin)
    const before = process.memoryUsage().arrayBuffers
    await expect(readDataFile(file, all)).rejects.toThrow(`${file}, ${pattern}`)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1_048_576)
  })

  test('more different keys than any table has', async () => {
    const lines = Array.from({ length: 4_097 }, (_, key) => `{"k${key}":1}`).join('\n')
    await expect(readDataFile(writeData('keys.jsonl', lines), all)).rejects.toThrow(
      'line 4097: more than 4096 different keys',
    )
  })

  test('a folder, a pipe that nobody writes to, a device, a link to itself, nothing', async () => {
    mkdirSync(at('folder.csv'))
    execFileSync('mkfifo', [at('pipe.csv')])
    symlinkSync(at('loop.csv'), at('loop.csv'))
    const messages: Record<string, string> = {
      [at('folder.csv')]: 'it is a folder, not a file',
      [at('pipe.csv')]: 'it is a pipe, not a file',
      '/dev/zero': 'it is a device, not a file',
      [at('loop.csv')]: 'it is a link that leads back to itself',
      [at('nowhere.csv')]: 'it does not exist',
    }
    for (const [file, why] of Object.entries(messages)) {
      await expect(readDataFile(file, all)).rejects.toThrow(`${file} cannot be read: ${why}`)
    }
  })

  test.each(['csv', 'parquet'] as DataKind[])('a file that somebody changes while it is read: %s', async (kind) => {
    const file = writeData(`changing.${kind}`, kind === 'csv' ? 'id,name\n1,a\n' : encodeParquet(people))
    const reading = readDataFile(file, all, { onProgress: () => appendFileSync(file, 'x') })
    await expect(reading).rejects.toThrow(`${file} was changed while it was read`)
  })
})

function encodeParquet(records: readonly Readonly<Record<string, string>>[]): Uint8Array {
  const names = ['id', 'name', 'city']
  return encodeTexts(
    names,
    records.map((record) => names.map((name) => record[name] ?? null)),
  )
}

/** Written in pieces; of a hundred megabytes. */
function writeHugeFile(name: string, begin: string): string {
  const file = openSync(at(name), 'w')
  writeSync(file, begin)
  const piece = Buffer.alloc(4_194_304, 'x')
  for (let written = 0; written < 25; written++) writeSync(file, piece)
  closeSync(file)
  return at(name)
}
