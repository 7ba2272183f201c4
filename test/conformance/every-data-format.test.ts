// Runs each format of data files against each requirement.
import { describe, test } from 'vitest'
import { readCsv } from '../../adapters/format/csv/read-csv.ts'
import { writeCsv } from '../../adapters/format/csv/write-csv.ts'
import { readJsonLines } from '../../adapters/format/json-lines/read-json-lines.ts'
import { writeJsonLines } from '../../adapters/format/json-lines/write-json-lines.ts'
import { readParquet } from '../../adapters/format/parquet/read-parquet.ts'
import { writeParquet } from '../../adapters/format/parquet/write-parquet.ts'
import { readXlsx } from '../../adapters/format/xlsx/read-xlsx.ts'
import { usualCsv } from '../../daemon/kernel/data/csv-dialect.ts'
import { escapeFormula } from '../../daemon/kernel/text/formula-cell.ts'
import { memoryRanges, memorySource } from '../support/data/memory-source.ts'
import { writeXlsx } from '../support/data/write-xlsx.ts'
import { type DataFormatFixture, dataFormatRequirements } from './data-format.ts'

const formats: Readonly<Record<string, DataFormatFixture>> = {
  csv: {
    read: (bytes, options, cuts) => readCsv(memorySource(bytes, cuts), usualCsv, options),
    write: writeCsv,
    textOf: (type, text) => (type === 'text' ? escapeFormula(text) : text),
    hasEmptyRows: false,
    statesTypes: false,
  },
  'json-lines': {
    read: (bytes, options, cuts) => readJsonLines(memorySource(bytes, cuts), '|', options),
    write: writeJsonLines,
    // A double is read as JSON numbers are: exact, and in its shortest form.
    textOf: (_, text) => text,
    hasEmptyRows: true,
    statesTypes: false,
  },
  parquet: {
    read: (bytes, options) => readParquet(memoryRanges(bytes), '|', options),
    write: writeParquet,
    // Decimals end with their last digit.
    textOf: (type, text) =>
      /timestamp$/.test(type) ? text.replace(/(\.\d*?)0+(Z?)$/, '$1$2').replace(/\.(Z?)$/, '$1') : text,
    hasEmptyRows: true,
    statesTypes: true,
  },
  xlsx: {
    read: (bytes, options) => readXlsx(memoryRanges(bytes), undefined, options),
    write: writeXlsx,
    textOf: (_, text) => text,
    hasEmptyRows: false,
    statesTypes: false,
  },
}

/** A sheet has at most 1,048,576 rows. */
const inapplicable: Readonly<Record<string, string>> = { xlsx: 'data-format/many-blocks' }

for (const [name, format] of Object.entries(formats)) {
  describe(name, () => {
    test.each(dataFormatRequirements.filter(({ id }) => id !== inapplicable[name]))('$id: $description', ({ verify }) =>
      verify(format),
    )
  })
}
