// The place of a reading in logs is what the next one begins at, and messages that are gone are not passed in silence.
import { expect, test } from 'vitest'
import { LogProgress } from './log-progress.ts'

test('what is described is where the next reading begins', () => {
  const place = new LogProgress(undefined, 'fail')
  expect(place.isRead).toBe(false)
  place.name('a-topic')
  place.move({ partition: '0', offset: 9_007_199_254_740_993n, epoch: 3 })
  place.move({ partition: '1', offset: 0n })
  const cursor = { of: 'x', ...place.describe() }
  expect(cursor).toEqual({
    ...{ of: 'x', log: 'a-topic' },
    ...{ offsets: { 0: '9007199254740993', 1: '0' }, epochs: { 0: 3 } },
  })
  const next = new LogProgress(cursor, 'fail')
  next.name('another')
  expect(next.describe()).toEqual(place.describe())
  next.move({ partition: '0', offset: 9_007_199_254_740_999n })
  expect(next.describe().epochs).toBeUndefined()
})

test('a gap ends the reading, or is counted where the task goes on', () => {
  const gap = { partition: '4', start: 10n, end: 25n }
  expect(() => new LogProgress(undefined, 'fail').pass(gap)).toThrow('was read up to offset 10 and begins at 25 now')
  const place = new LogProgress(undefined, 'continue')
  expect(place.describeGaps()).toBe('')
  place.pass(gap)
  place.pass({ ...gap, end: 11n })
  expect(place.describeGaps()).toBe('; 16 offsets were removed before they were read')
})
