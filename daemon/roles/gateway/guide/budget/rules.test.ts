// A budget of bytes and tokens holds the best by the sort key, and each other artifact has its reason.
import { expect, test } from 'vitest'
import { rankOf } from '../../../../../packages/guidance-client/src/ranking.ts'
import { estimateTokens, fitBudget } from './rules.ts'

const artifact = (id: string, bytes: number, weight: number) => ({
  ...{ id, bytes },
  rank: rankOf({ content: { weight }, applicability: { tags: [] }, as_of: 1 } as never),
})
const [best, middle, last] = [artifact('best', 400, 3), artifact('middle', 800, 2), artifact('last', 100, 1)]
const fitNames = (budget: Parameters<typeof fitBudget>[1]) => {
  const { fitting, held } = fitBudget([last, middle, best], budget)
  return [[...fitting].map(({ id }) => id), [...held].map(([{ id }, reason]) => `${id} ${reason}`)]
}

test('without a bound of tokens, bytes alone decide, and a large artifact makes room for a smaller one of a lower rank', () => {
  expect(fitNames({ max_bytes: 2_000 })).toEqual([['best', 'middle', 'last'], []])
  expect(fitNames({ max_bytes: 500 })).toEqual([['best', 'last'], ['middle bytes']])
  expect(fitNames({ max_bytes: 0 })).toEqual([[], ['best bytes', 'middle bytes', 'last bytes']])
})

test('a token is a quarter of the bytes, rounded up for each artifact', () => {
  expect([estimateTokens(0), estimateTokens(1), estimateTokens(400), estimateTokens(401)]).toEqual([0, 1, 100, 101])
  expect(fitNames({ max_bytes: 2_000, max_tokens: 325 })).toEqual([['best', 'middle', 'last'], []])
  expect(fitNames({ max_bytes: 2_000, max_tokens: 324 })).toEqual([['best', 'middle'], ['last tokens']])
  expect(fitNames({ max_bytes: 2_000, max_tokens: 125 })).toEqual([['best', 'last'], ['middle tokens']])
  expect(fitNames({ max_bytes: 450, max_tokens: 100 })).toEqual([['best'], ['middle bytes', 'last bytes']])
  expect(fitNames({ max_bytes: 2_000, max_tokens: 0 })[0]).toEqual([])
})
