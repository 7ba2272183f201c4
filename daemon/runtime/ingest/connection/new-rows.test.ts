// Each row of a growing source is taken once, in whatever order it gives its rows.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RowPosition } from '../../../kernel/data/landed-dataset.ts'
import type { RowPlace } from '../../../shared/row-source/row-cursor.ts'
import { NewRows } from './new-rows.ts'

type Row = { readonly value: number; readonly text: string }

/** A source whose rows come in order of their value (`new_end`), or in any order. */
function read(rows: readonly Row[], base: RowPosition | undefined, isOrdered: boolean) {
  const news = new NewRows('value', base)
  const { from, onRow, onEnd } = news.cursor()
  const start = from === undefined ? Number.NEGATIVE_INFINITY : Number(from.value)
  const found = rows.filter(({ value }) => value >= start)
  const all = isOrdered ? found.toSorted((a, b) => a.value - b.value) : found
  const end = Math.max(...all.map(({ value }) => value))
  let greatest = Number.NEGATIVE_INFINITY
  const placeOf = (value: number): RowPlace => {
    if (value === start) return 'start'
    if (!isOrdered) return value === end ? 'end' : 'between'
    const isNew = value > greatest
    greatest = Math.max(greatest, value)
    return isNew ? 'new_end' : 'end'
  }
  const taken: string[] = []
  for (const { value, text } of all) {
    onRow(placeOf(value))
    taken.push(...news.take([`${value} ${text}`]))
  }
  if (all.length > 0) onEnd({ type: 'integer', value: String(end) })
  return { taken, position: news.position() }
}

const steps = fc.array(
  fc.record({ grows: fc.nat(2), isRead: fc.boolean(), texts: fc.array(fc.constantFrom('a', 'b'), { maxLength: 4 }) }),
  { maxLength: 12 },
)

test('whenever a growing source is read, each row is taken once', () => {
  fc.assert(
    fc.property(steps, fc.boolean(), (all, isOrdered) => {
      const rows: Row[] = []
      const taken: string[] = []
      let position: RowPosition | undefined
      let value = 0
      for (const { grows, texts, isRead } of [...all, { grows: 0, texts: [], isRead: true }]) {
        value += grows
        for (const text of texts) rows.unshift({ value, text })
        if (!isRead) continue
        const reading = read(rows, position, isOrdered)
        taken.push(...reading.taken)
        position = reading.position
      }
      expect(taken.toSorted()).toEqual(rows.map((row) => `${row.value} ${row.text}`).toSorted())
    }),
  )
})

test('more rows of one value than are remembered end the reading, with what to do', () => {
  const news = new NewRows('day', undefined)
  const { onRow } = news.cursor()
  const block = Array.from({ length: 100_001 }, (_, at) => `row ${at}`)
  for (const _ of block) onRow('end')
  expect(() => news.take(block)).toThrow('more than 100000 rows have the greatest value of the cursor column "day"')
})

test('a source without a row of the value that it calls the greatest is refused', () => {
  const news = new NewRows('day', undefined)
  const { onRow, onEnd } = news.cursor()
  onEnd({ type: 'text', value: 'b' })
  onRow('between')
  news.take(['a'])
  expect(() => news.position()).toThrow('the values of the cursor column "day" cannot be compared')
})
