// The order in which findings are published is that of their uids.
import { expect, test } from 'vitest'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { orderByUid } from './order-by-uid.ts'

test('items come in the order of the text of their uids', () => {
  const uidOf = (item: number) => `match_${sha256(String(item)).slice(0, 32)}`
  const items = Array.from({ length: 1_000 }, (_, item) => item)
  const byText = items.toSorted((a, b) => (uidOf(a) < uidOf(b) ? -1 : 1))
  expect(orderByUid(items, uidOf)).toEqual(byText)
})
