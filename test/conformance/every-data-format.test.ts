// Runs each format of data files against each requirement.
import { describe, test } from 'vitest'
import { readCsv } from '../../adapters/format/csv/read-csv.ts'
import { writeCsv } from '../../adapters/format/csv/write-csv.ts'
import { readJsonLines } from '../../adapters/format/json-lines/read-json-lines.ts'
import { writeJsonLines } from '../../adapters/format/json-lines/write-json-lines.ts'
import { readParquet } from '../../adapters/format/parquet/read-parquet.ts'
import { writeParquet } from '../../adapters/format/parquet/write-parquet.ts'
import { usualCsv } from '../../daemon/kernel/data/csv-dialect.ts'
import { escapeFormula } from '../../daemon/kernel/text/formula-cell.ts'
import { memoryRanges, memorySource } from '../support/data/memory-source.ts'
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
}

for (const [name, format] of Object.entries(formats)) {
  describe(name, () => {
    test.each(dataFormatRequirements)('$id: $description', ({ verify }) => verify(format))
  })
}
