// Tables for properties of data files.
import fc from 'fast-check'
import type { DataColumn, DataSchema } from '../../../daemon/kernel/data/data-schema.ts'

const texts: Readonly<Record<DataColumn['type'], fc.Arbitrary<string>>> = {
  text: fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', "'", '=', '\\', '{', '\u0001', '漢', '😀'), maxLength: 8 }),
  ),
  boolean: fc.constantFrom('true', 'false'),
  int32: fc.integer().map(String),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  double: fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map(String)
    .filter((text) => text !== '-0'),
  date: fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
  timestamp: fc
    .date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  local_timestamp: fc
    .date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, -1)),
}

export type TableSample = { readonly schema: DataSchema; readonly rows: readonly (readonly (string | null)[])[] }

/** Small tables of any schema, whose names and texts are awkward; null is a missing value. */
export const tables: fc.Arbitrary<TableSample> = fc
  .uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'ü', 'two words', '__proto__', 'x,y', 'say "so"'),
      type: fc.constantFrom('text', 'boolean', 'int32', 'int64', 'double', 'date', 'timestamp', 'local_timestamp'),
    }),
    { minLength: 1, maxLength: 4, selector: ({ name }) => name },
  )
  .chain((schema) => {
    const cells = schema.map(({ type }) => fc.option(texts[type as DataColumn['type']], { freq: 4 }))
    const row = fc.tuple(...cells) as fc.Arbitrary<(string | null)[]>
    return fc.array(row, { maxLength: 12 }).map((rows) => ({ schema: schema as DataSchema, rows }))
  })
