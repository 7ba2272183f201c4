// Reads the cells of a sheet row by row.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { XmlListener } from '../xml/xml-reader.ts'
import { columnOf, formatNumber, type NumberKind, unescapeText } from './cell-text.ts'
import { TextItem } from './workbook.ts'

export type CellTexts = {
  readonly styles: readonly NumberKind[]
  readonly shared: readonly string[]
  readonly has1904Dates: boolean
}

/** As Excel has them. */
const [max_rows, max_columns] = [1_048_576, 16_384]
/** Of a value, above every field that is kept. */
const max_value_characters = 2_097_152

type Cell = { readonly type: string; readonly style: number; readonly column: number }

/** `uncomputed`: the columns of formulas without a stored result. */
type RowListener = (number: number, row: readonly (string | undefined)[], uncomputed: readonly number[]) => void

/** Hands each row to `onRow`, under its number from 1. A cell has a value or none; of merged cells the first one has it. */
export function sheetRows(texts: CellTexts, onRow: RowListener): XmlListener {
  let number = 0
  let row: (string | undefined)[] = []
  let cell: Cell | undefined
  let value: string | undefined
  let [isValue, isFormula] = [false, false]
  let uncomputed: number[] = []
  const item = new TextItem()
  const beginRow = (reference: string | undefined) => {
    const next = reference === undefined ? number + 1 : Number(reference)
    if (!Number.isInteger(next) || next <= number || next > max_rows)
      throw new DataFault(`damaged: row ${JSON.stringify(reference?.slice(0, 20))} follows row ${number}`)
    number = next
    row = []
    uncomputed = []
  }
  const beginCell = ({ r, t = 'n', s = '0' }: Readonly<Record<string, string>>) => {
    const column = r === undefined ? row.length : columnOf(r)
    if (column === undefined || column < row.length || column >= max_columns)
      throw new DataFault(`damaged: row ${number} has a cell ${JSON.stringify(r?.slice(0, 20))}`)
    while (row.length < column) row.push(undefined)
    cell = { type: t, style: Number(s), column }
    value = undefined
    isFormula = false
    item.begin()
  }
  return {
    open(name, attributes) {
      if (name === 'row') beginRow(attributes.r)
      else if (name === 'c') beginCell(attributes)
      else if (name === 'v') [isValue, value] = [true, '']
      else if (name === 'f') isFormula = true
      else item.open(name)
    },
    text(text) {
      if (isValue) value = `${value ?? ''}${text}`.slice(0, max_value_characters)
      else item.add(text)
    },
    close(name) {
      if (name === 'v') isValue = false
      else if (name === 'row') onRow(number, row, uncomputed)
      else if (name === 'c' && cell) {
        // The result of a formula may be an empty text.
        if (isFormula && !value && cell.type !== 'str') uncomputed.push(cell.column)
        row.push(cell.type === 'inlineStr' ? item.text() : readValue(texts, cell, value))
        cell = undefined
      } else item.close(name)
    },
  }
}

function readValue(texts: CellTexts, { type, style }: Cell, value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  switch (type) {
    case 's': {
      const text = texts.shared[Number(value)]
      if (text === undefined) throw new DataFault(`damaged: the shared text ${value.slice(0, 20)} is missing`)
      return text
    }
    case 'b':
      return value === '1' || value === 'true' ? 'true' : 'false'
    case 'e':
      // A formula without a result.
      return undefined
    case 'str':
      return value === '' ? undefined : unescapeText(value)
    case 'd':
      return value
    default:
      return formatNumber(value, texts.styles[style] ?? 'number', texts.has1904Dates)
  }
}
