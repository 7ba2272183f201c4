// Everything that a format of data files must keep, as data: each reader and writer is run against all of it.
import fc from 'fast-check'
import { expect } from 'vitest'
import type { DataBlocks } from '../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../daemon/kernel/data/data-fault.ts'
import { type DataColumn, type DataSchema, parseTyped } from '../../daemon/kernel/data/data-schema.ts'
import type { DataWriterFactory } from '../../daemon/kernel/data/data-writer.ts'
import { inferSchema } from '../../daemon/kernel/data/infer-schema.ts'
import { type DataReadOptions, usualLimits } from '../../daemon/kernel/data/read-options.ts'
import { buildBlock, encodeBlocks } from '../support/data/encode-blocks.ts'
import { listRows } from '../support/data/memory-source.ts'
import { type TableSample, tables } from '../support/data/table-samples.ts'

export type DataFormatFixture = {
  /** `cuts`: positions at which reads end, where the format is read in order. */
  read(bytes: Uint8Array, options: DataReadOptions, cuts: readonly number[]): DataBlocks
  readonly write: DataWriterFactory
  /** The text of a value as a reader returns it, for a text that was written. */
  textOf(type: DataColumn['type'], text: string): string
  /** Whether the value of an only column, or all values of a row, can be missing. */
  readonly hasEmptyRows: boolean
  /** Whether a file states the types of its columns, so that none is inferred from values. */
  readonly statesTypes: boolean
}

type DataFormatRequirement = {
  readonly id: string
  readonly description: string
  readonly verify: (format: DataFormatFixture) => Promise<void>
}

const requirement = (
  id: string,
  description: string,
  verify: DataFormatRequirement['verify'],
): DataFormatRequirement => ({ id: `data-format/${id}`, description, verify })

const all: DataReadOptions = { limits: usualLimits, isSelected: () => true }

const namesOf = (schema: DataSchema) => schema.map(({ name }) => name)

function encode({ write }: DataFormatFixture, schema: DataSchema, ...parts: TableSample['rows'][]): Uint8Array {
  return encodeBlocks(
    write,
    schema,
    parts.map((rows) => buildBlock(namesOf(schema), rows)),
  )
}

const textColumn = (name: string): DataColumn => ({ name, type: 'text' })
const table: DataSchema = [textColumn('id'), textColumn('name')]

export const dataFormatRequirements: readonly DataFormatRequirement[] = [
  requirement('round-trip', 'what is written is read, whatever its texts, types, blocks and reads', async (format) => {
    const cuts = fc.array(fc.nat(2_000), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(tables, fc.nat(12), cuts, async ({ schema, rows }, split, where) => {
        const isAllowed = (row: readonly (string | null)[]) => format.hasEmptyRows || row.some((cell) => cell !== null)
        const kept = rows.filter((row) => isAllowed(row) && (format.hasEmptyRows || schema.length > 1))
        const bytes = encode(format, schema, kept.slice(0, split), kept.slice(split))
        const read = await listRows(format.read(bytes, all, where))
        const expected = kept.map((row) => {
          return row.map((cell, at) => (cell === null ? null : format.textOf(schema[at]?.type ?? 'text', cell)))
        })
        const order = read.names.map((name) => namesOf(schema).indexOf(name))
        expect(read.rows).toEqual(expected.map((row) => order.map((at) => row[at])))
      }),
      { numRuns: 300 },
    )
  }),

  requirement('deterministic', 'the same blocks give the same bytes', async (format) => {
    const rows = [
      ['1', 'a'],
      ['2', null],
    ] as const
    expect(encode(format, table, rows)).toEqual(encode(format, table, rows))
  }),

  requirement('selection', 'only selected columns have values, and the names of all are known', async (format) => {
    const bytes = encode(format, table, [['1', 'a']])
    for await (const { names, columns } of format.read(bytes, { ...all, isSelected: (name) => name === 'name' }, [])) {
      expect(names).toEqual(['id', 'name'])
      expect(columns.map(({ name }) => name)).toEqual(['name'])
    }
  }),

  requirement('many-blocks', 'a file of more rows than a block has is read in order', async (format) => {
    const rows = Array.from({ length: 3_000_000 / 2 }, (_, row) => [String(row), 'x'] as const)
    const bytes = encode(format, table, rows.slice(0, 700_000), rows.slice(700_000))
    let next = 0
    let blocks = 0
    const decoder = new TextDecoder()
    for await (const { rows: count, columns } of format.read(bytes, all, [])) {
      const [id] = columns
      blocks++
      for (let row = 0; row < count; row++) {
        const text = decoder.decode(id?.bytes.subarray(id.starts[row], id.ends[row]))
        if (text !== String(next++)) throw new Error(`row ${next - 1} is ${text}`)
      }
    }
    expect(next).toBe(rows.length)
    expect(blocks).toBeGreaterThan(1)
  }),

  requirement(
    'limit-rows',
    'more rows than allowed are a fault, also where faulty records are left out',
    async (format) => {
      const bytes = encode(format, table, [
        ['1', 'a'],
        ['2', 'b'],
        ['3', 'c'],
      ])
      const limits = { ...usualLimits, rows: 2 }
      const reading = listRows(format.read(bytes, { ...all, limits, onReject: () => undefined }, []))
      await expect(reading).rejects.toThrow(/more than 2 records/)
      await expect(listRows(format.read(bytes, { ...all, limits: { ...limits, rows: 3 } }, []))).resolves.toBeDefined()
    },
  ),

  requirement('limit-columns', 'more columns than allowed are a fault', async (format) => {
    const schema = ['a', 'b', 'c'].map(textColumn)
    const bytes = encode(format, schema, [['1', '2', '3']])
    const reading = listRows(format.read(bytes, { ...all, limits: { ...usualLimits, names: 2 } }, []))
    await expect(reading).rejects.toThrow(/more than 2 (columns|different keys)/)
  }),

  requirement(
    'limit-fields',
    'a longer value than its column allows is a fault that names the column',
    async (format) => {
      const limits = { ...usualLimits, maxFieldBytes: (name: string) => (name === 'id' ? 4 : 8) }
      const good = encode(format, table, [['éé', 'éééé']])
      expect((await listRows(format.read(good, { ...all, limits }, []))).rows).toEqual([['éé', 'éééé']])
      const long = encode(format, table, [['ééx', 'é']])
      await expect(listRows(format.read(long, { ...all, limits }, []))).rejects.toThrow(/id.* has more than 4 bytes/)
    },
  ),

  requirement('typed-values', 'a value that begins with a sign is read as the value of its type', async (format) => {
    const samples = [
      ['double', '-1e-7'],
      ['double', '-1.5e+300'],
      ['double', '-Infinity'],
      ['int64', '-9223372036854775808'],
      ['date', '-000044-03-15'],
      ['timestamp', '+012024-02-29T00:00:00Z'],
      ['local_timestamp', '-000044-03-15T00:00:00'],
    ] as const
    for (const [type, text] of samples) {
      const bytes = encode(format, [{ name: 'x', type, ...(/timestamp$/.test(type) ? { unit: 'ms' } : {}) }], [[text]])
      const [[read] = []] = (await listRows(format.read(bytes, all, []))).rows
      const typedOf = (each: string) => parseTyped({ type, unit: 'ms' }, each)
      expect(typedOf(text), text).toBeDefined()
      expect(typedOf(read ?? ''), `${text} was read as ${read}`).toEqual(typedOf(text))
    }
  }),

  requirement('inferred-schema', 'a file written by the schema inferred from it reads the same', async (format) => {
    const types = ['text', 'int64', 'double', 'boolean', 'date', 'timestamp', 'local_timestamp'] as const
    const rows = [
      ['007', '-2', '2.5', 'true', '2024-02-29', '2024-02-29T13:00:00.5Z', '2024-02-29T00:00:00'],
      ['x', null, '1e-7', 'false', null, '1969-12-31T23:59:59Z', null],
    ]
    const texts = encode(
      format,
      types.map((name) => textColumn(name)),
      rows,
    )
    for await (const block of format.read(texts, all, [])) {
      const schema = inferSchema(block)
      expect(schema.map(({ type }) => type)).toEqual(format.statesTypes ? types.map(() => 'text') : types)
      const read = await listRows(format.read(encodeBlocks(format.write, schema, [block]), all, []))
      const expected = rows.map((row) =>
        row.map((cell, at) => (cell === null ? null : format.textOf(schema[at]?.type ?? 'text', cell))),
      )
      expect(read.rows).toEqual(expected)
    }
  }),

  requirement(
    'types',
    'a value that is not of its type is refused with its record, column and type',
    async (format) => {
      const schema: DataSchema = [{ name: 'count', type: 'int64' }]
      expect(() => encode(format, schema, [['1']], [['2'], ['007']])).toThrow(
        'record 3: count is "007"; it must be int64',
      )
      expect(() => encode(format, [{ ...textColumn('id'), required: true }], [[null]])).toThrow(
        'record 1: id is missing; it must be text',
      )
    },
  ),

  requirement('columns', 'a block with other columns than the schema is refused', async ({ write }) => {
    const other = buildBlock(['id', 'nick'], [['1', 'a']])
    expect(() => encodeBlocks(write, table, [other])).toThrow(DataFault)
  }),

  requirement(
    'truncated',
    'a file cut anywhere is read up to there, or is a fault, and never another error',
    async (format) => {
      const bytes = encode(format, table, [
        ['1', 'plain'],
        ['2', 'with "marks", and\nlines'],
        ['3', '漢字'],
      ])
      for (let end = 0; end < bytes.length; end++) {
        const read = await listRows(format.read(bytes.subarray(0, end), all, [])).catch((error: unknown) => error)
        if (read instanceof Error) expect(read, `${end} bytes`).toBeInstanceOf(DataFault)
      }
    },
  ),

  requirement('any-bytes', 'any bytes are read or are a fault, and never another error', async (format) => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const read = await listRows(format.read(bytes, { ...all, onReject: () => undefined }, [])).catch(
          (e: unknown) => e,
        )
        if (read instanceof Error) expect(read).toBeInstanceOf(DataFault)
      }),
      { numRuns: 500 },
    )
  }),

  requirement('source-errors', 'an error of the source reaches the reader as it is', async (format) => {
    class DiskError extends Error {}
    const bytes = encode(format, table, [['1', 'a']])
    const failing = new Proxy(bytes, {
      get: (target, key) => {
        if (key === 'subarray') throw new DiskError('the disk is gone')
        return Reflect.get(target, key) as unknown
      },
    })
    await expect(listRows(format.read(failing, all, []))).rejects.toThrow(DiskError)
  }),
]
