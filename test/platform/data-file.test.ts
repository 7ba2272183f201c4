// Files of data from block to block: written at the pace of the disk, whole or not at all, and read again by every role.
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openDataFile } from '../../adapters/platform/data-file/data-file.ts'
import {
  inferDataKind,
  openBlocks,
  readableExtensions,
  resultKinds,
} from '../../adapters/platform/data-file/data-kinds.ts'
import { openTenantDataFile } from '../../adapters/platform/data-file/tenant-data-file.ts'
import { writeDataFile } from '../../adapters/platform/data-file/write-data-file.ts'
import type { DataBlock } from '../../daemon/kernel/data/data-block.ts'
import { usualLimits } from '../../daemon/kernel/data/read-options.ts'
import { buildBlock } from '../support/data/encode-blocks.ts'
import { cellOf } from '../support/data/memory-source.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'data-file-'))
  file = path.join(folder, 'people.parquet')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
})

const names = ['id', 'city']
const schema = names.map((name) => ({ name, type: 'text' as const }))
const rowsOf = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => [`p${first + at}`, at % 3 === 0 ? null : `Köln "${at}", Süd`])
const blockOf = (first: number, count: number) => buildBlock(names, rowsOf(first, count))

async function readRows(from: string): Promise<(string | null)[][]> {
  const opened = openDataFile(from)
  const rows: (string | null)[][] = []
  const options = { limits: usualLimits, isSelected: () => true }
  for await (const block of await openBlocks(opened, { kind: inferDataKind(from) ?? 'csv' }, options, () => undefined))
    for (let row = 0; row < block.rows; row++) rows.push(names.map((_, column) => cellOf(block, column, row)))
  opened.checkUnchanged()
  opened.close()
  return rows
}

describe.each(resultKinds)('%s', (kind) => {
  test('of several blocks is read again as it was written', async () => {
    const written = path.join(folder, `people.${kind}`)
    await writeDataFile(written, { kind, schema, blocks: [blockOf(0, 5), blockOf(5, 0), blockOf(5, 4)] })
    expect(await readRows(written)).toEqual([...rowsOf(0, 5), ...rowsOf(5, 4)])
    expect([readdirSync(folder), statSync(written).mode & 0o777]).toEqual([[`people.${kind}`], 0o600])
  })

  test('can be written from the blocks of any other kind as they are read', async () => {
    const source = path.join(folder, 'source.csv')
    await writeDataFile(source, { kind: 'csv', schema, blocks: [blockOf(0, 2_000)] })
    const opened = openDataFile(source)
    const options = { limits: usualLimits, isSelected: () => true }
    const blocks = await openBlocks(opened, { kind: 'csv' }, options, () => undefined)
    const target = path.join(folder, `target.${kind}`)
    await writeDataFile(target, { kind, schema, blocks })
    opened.close()
    expect(await readRows(target)).toEqual(rowsOf(0, 2_000))
  })
})

test('every extension has a kind, in any case', () => {
  expect(readableExtensions.map((extension) => inferDataKind(`x${extension.toUpperCase()}`))).toEqual([
    ...['csv', 'tsv', 'tsv', 'jsonl', 'jsonl', 'json', 'geojson', 'xml', 'avro', 'parquet', 'parquet'],
    ...['xls', 'xlsx', 'xlsx', 'gpkg', 'shapefile', 'shapefile', ...Array<string>(11).fill('image'), 'pdf'],
  ])
  expect(inferDataKind('x.doc')).toBeUndefined()
})

test('the next block is requested once the one before is with the operating system', async () => {
  const sizes: number[] = []
  const observed: number[] = []
  function* blocks(): Generator<DataBlock> {
    for (let at = 0; at < 4; at++) {
      sizes.push(statSync(`${file}.partial`).size)
      yield blockOf(at * 1_000, 1_000)
    }
  }
  await writeDataFile(file, { kind: 'jsonl', schema, blocks: blocks() }, { beforeWrite: () => observed.push(1) })
  expect(sizes[0]).toBe(0)
  for (const [at, size] of sizes.slice(1).entries()) expect(size).toBeGreaterThan((sizes[at] ?? 0) + 1_000)
  expect(observed).toHaveLength(4)
})

describe('a file that cannot be completed', () => {
  const later: DataBlock[] = [blockOf(0, 3), buildBlock(['id'], [['p4']])]

  test.each<[what: string, blocks: () => Iterable<DataBlock> | AsyncIterable<DataBlock>, fault: string]>([
    ['a block that is not of the schema', () => later, 'the block has the columns id, and the schema id, city'],
    [
      'a source that breaks',
      async function* () {
        yield blockOf(0, 3)
        throw new Error('the source is gone')
      },
      'the source is gone',
    ],
  ])('for %s leaves the former file, and no draft', async (_what, blocks, fault) => {
    writeFileSync(file, 'former')
    await expect(writeDataFile(file, { kind: 'parquet', schema, blocks: blocks() })).rejects.toThrow(fault)
    expect([readdirSync(folder), readFileSync(file, 'utf8')]).toEqual([['people.parquet'], 'former'])
  })

  test('ends its source', async () => {
    let isEnded = false
    async function* blocks(): AsyncGenerator<DataBlock> {
      try {
        yield* later
        yield blockOf(9, 1)
      } finally {
        isEnded = true
      }
    }
    await expect(writeDataFile(file, { kind: 'jsonl', schema, blocks: blocks() })).rejects.toThrow('the block has')
    expect(isEnded).toBe(true)
  })

  test.each(['beforeWrite', 'beforeRename'] as const)('by %s leaves nothing', async (hook) => {
    const refuseWrite = () => {
      throw new Error('no more')
    }
    const blocks = [blockOf(0, 3)]
    await expect(writeDataFile(file, { kind: 'csv', schema, blocks }, { [hook]: refuseWrite })).rejects.toThrow(
      'no more',
    )
    expect(readdirSync(folder)).toEqual([])
  })

  test('since its folder does not exist, or another writes it, names the cause and touches nothing', async () => {
    const blocks = [blockOf(0, 1)]
    const elsewhere = path.join(folder, 'nowhere', 'a.csv')
    await expect(writeDataFile(elsewhere, { kind: 'csv', schema, blocks })).rejects.toMatchObject({ code: 'ENOENT' })
    writeFileSync(`${file}.partial`, 'of another')
    await expect(writeDataFile(file, { kind: 'csv', schema, blocks })).rejects.toMatchObject({ code: 'EEXIST' })
    expect(readFileSync(`${file}.partial`, 'utf8')).toBe('of another')
  })

  test('since a link has the name of its draft, writes nothing through it', async () => {
    const outside = path.join(folder, 'outside')
    symlinkSync(outside, `${file}.partial`)
    await expect(writeDataFile(file, { kind: 'csv', schema, blocks: [] })).rejects.toMatchObject({ code: 'EEXIST' })
    expect(existsSync(outside)).toBe(false)
  })
})

test('a link under the name of the file is replaced, and what it leads to stays', async () => {
  const outside = path.join(folder, 'outside')
  writeFileSync(outside, 'theirs')
  symlinkSync(outside, file)
  await writeDataFile(file, { kind: 'parquet', schema, blocks: [blockOf(0, 1)] })
  expect([readFileSync(outside, 'utf8'), await readRows(file)]).toEqual(['theirs', rowsOf(0, 1)])
})

test('a written file is one that a tenant may name, and a link to it is not', async () => {
  const written = path.join(folder, 'people.csv')
  await writeDataFile(written, { kind: 'csv', schema, blocks: [blockOf(0, 1)] })
  symlinkSync(written, path.join(folder, 'link.csv'))
  const [parent, tenant] = [path.dirname(folder), path.basename(folder)]
  openTenantDataFile(parent, tenant, 'people.csv').close()
  for (const name of ['link.csv', `../${tenant}/people.csv`, '/people.csv', '.', ''])
    expect(() => openTenantDataFile(parent, tenant, name)).toThrow('the data file does not exist')
})
