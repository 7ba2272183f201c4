// A check that is not met is listed as such, and printed with what was observed.
import { expect, test } from 'vitest'
import { CheckList } from './check-list.ts'

test('checks that are not met are those that are listed as unmet, in their order', () => {
  const lines: string[] = []
  const list = new CheckList((line) => lines.push(line))
  list.add('first', true, 'as expected')
  list.add('second', false, 'nothing')
  list.add('third', false, 'less')
  expect(list.unmet.map(({ name }) => name)).toEqual(['second', 'third'])
  expect(lines).toEqual(['ok      first: as expected', 'NOT OK  second: nothing', 'NOT OK  third: less'])
})
