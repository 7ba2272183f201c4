// Every operation that answers a list says how many items the whole list has, and takes a cursor where it has pages.
import { expect, test } from 'vitest'
import * as z from 'zod'
import { everyOperation } from '../daemon/every-role.ts'

/** Answers with items that are not a list of stored objects. */
const otherAnswers: Readonly<Record<string, string>> = {
  'intelligence.signal.changes': 'a feed, read from a place on',
  'intelligence.signal.similar': 'the best of those that were compared',
  'intelligence.signal.statistics': 'sums of a span of days',
  'resolution.entity-change.list': 'a feed, read from a place on',
  'proxy.denial.list': 'the most frequent of those in memory; its total is that of the requests',
}

const lists = everyOperation.filter(({ address, operation: { method, output } }) => {
  const isObject = output instanceof z.ZodObject && 'items' in output.shape && !('uid' in output.shape)
  return method === 'GET' && isObject && !(address in otherAnswers)
})

test('there are lists of every role', () => {
  expect(new Set(lists.map(({ role }) => role)).size).toBe(new Set(everyOperation.map(({ role }) => role)).size)
})

test.each(lists.map(({ address, operation }) => [address, operation] as const))('%s', (_address, { input, output }) => {
  const answer = (output as z.ZodObject).shape
  if (answer.next_cursor)
    expect(Object.keys((input as z.ZodObject).shape)).toEqual(expect.arrayContaining(['limit', 'cursor']))
  expect(Object.keys(answer)).toEqual(expect.arrayContaining(['items', 'total', 'total_is']))
})
