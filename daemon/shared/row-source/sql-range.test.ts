// The condition by which new rows are read, and which values it may have.
import { expect, test } from 'vitest'
import type { CursorValue, RowCursor } from './row-cursor.ts'
import { findSqlRange, type SqlQuestions } from './sql-range.ts'

const order = { type: 'integer', value: '"id"', literal: ({ value }: CursorValue) => value } as const
const cursorFrom = (from?: CursorValue): RowCursor => {
  return { column: 'id', ...(from && { from }), onRow: () => undefined, onEnd: () => undefined }
}
/** `conditions`: takes the conditions. */
const answer = (greatest: string | null, isMissing = false, conditions: string[] = []): SqlQuestions => ({
  hasMissing: async () => isMissing,
  async findGreatest(where) {
    conditions.push(where)
    return greatest
  },
})

test('rows are those from the value of the cursor up to the greatest one', async () => {
  const conditions: string[] = []
  expect(await findSqlRange(cursorFrom(), order, answer('9', false, conditions))).toEqual({
    ...{ place: 'CASE WHEN "id" = 9 THEN 2 ELSE 0 END', where: '"id" <= 9', end: { type: 'integer', value: '9' } },
  })
  expect(
    await findSqlRange(cursorFrom({ type: 'integer', value: '7' }), order, answer('9', false, conditions)),
  ).toEqual({
    place: 'CASE WHEN "id" = 7 THEN 1 WHEN "id" = 9 THEN 2 ELSE 0 END',
    where: '"id" <= 9 AND "id" >= 7',
    end: { type: 'integer', value: '9' },
  })
  expect(conditions).toEqual(['', ' WHERE "id" >= 7'])
  expect(await findSqlRange(cursorFrom(), order, answer(null))).toBeUndefined()
})

test('no statement has a value that is none of its type', async () => {
  const conditions: string[] = []
  const injected = '1; DROP TABLE people'
  const from = cursorFrom({ type: 'integer', value: injected })
  await expect(findSqlRange(from, order, answer('9', false, conditions))).rejects.toThrow(
    'from which no reading can go on',
  )
  expect(conditions).toEqual([])
  await expect(findSqlRange(cursorFrom(), order, answer(injected))).rejects.toThrow('from which no reading can go on')
  await expect(findSqlRange(cursorFrom({ type: 'text', value: 'a' }), order, answer('9'))).rejects.toThrow(
    'is of the type integer now, and was text',
  )
  await expect(findSqlRange(cursorFrom(), order, answer('9', true))).rejects.toThrow('a row has no value in it')
})
