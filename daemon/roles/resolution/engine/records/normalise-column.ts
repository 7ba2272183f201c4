// Normalises one column of all sources; each distinct value is normalised once.
import type { NormaliserName } from '../../lens/normalisers.ts'
import { chooseByteNormaliser } from '../text/byte-normaliser.ts'
import { buildDictionaryFromBytes, countRows, type DictionaryColumn } from '../text/dictionary.ts'
import { createNormaliser } from '../text/normalisers.ts'
import type { RawColumn } from './collect-columns.ts'
import { ValueTable } from './value-table.ts'

/** Fault: a value is not valid UTF-8. */
export class Utf8Fault extends Error {
  readonly value: number
  readonly column: RawColumn
  constructor(column: RawColumn, value: number) {
    super(`a value of ${column.name} is not UTF-8`)
    this.name = 'NotUtf8'
    this.column = column
    this.value = value
  }
}

/** Normalises a column. `from`: the first row of each source; a source may lack the column. Throws `Utf8Fault`. */
export function normaliseColumn(
  columns: readonly (RawColumn | undefined)[],
  rows: number,
  from: readonly number[],
  normalisers: readonly NormaliserName[],
): DictionaryColumn {
  const values = new ValueTable()
  const codes = new Int32Array(rows).fill(-1)
  for (const [at, column] of columns.entries()) {
    if (!column) continue
    const numbers = normaliseValues(values, column, normalisers)
    const start = from[at]!
    for (let row = 0; row < column.codes.length; row++) {
      const value = column.codes[row]!
      if (value >= 0) codes[start + row] = numbers[value]!
    }
  }
  const column = { codes, dictionary: buildDictionaryFromBytes(values.all) }
  return { ...column, counts: countRows(column) }
}

/** Returns the number of the normalised form of each raw value; -1 for an empty form. */
function normaliseValues(values: ValueTable, column: RawColumn, normalisers: readonly NormaliserName[]): Int32Array {
  const { bytes, starts } = column.values.all
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const [normaliseBytes, normaliseText] = [chooseByteNormaliser(normalisers), createNormaliser(normalisers)]
  let form = new Uint8Array(256)
  const numbers = new Int32Array(starts.length - 1)
  for (let value = 0; value < numbers.length; value++) {
    const [start, end] = [starts[value]!, starts[value + 1]!]
    if (end - start > form.length) form = new Uint8Array((end - start) * 2)
    const length = normaliseBytes(bytes, start, end, form)
    if (length > 0) numbers[value] = values.add(form, 0, length)
    else if (length === 0) numbers[value] = -1
    else {
      const text = normaliseText(decodeValue(decoder, column, value))
      numbers[value] = text === '' ? -1 : values.addText(text)
    }
  }
  return numbers
}

function decodeValue(decoder: InstanceType<typeof TextDecoder>, column: RawColumn, value: number): string {
  try {
    return decoder.decode(column.values.bytesOf(value))
  } catch {
    throw new Utf8Fault(column, value)
  }
}
