// Counts are apart by tenant and scope, and bounded whatever names come in.
import { expect, test } from 'vitest'
import { GuideCounts } from './guide-counts.ts'

test('attachments are counted by tenant and scope, with the reasons of those that were not made', () => {
  const counts = new GuideCounts()
  counts.addAttach('alpha', 'l2', 'attached', 0.5)
  counts.addAttach('alpha', 'l1', 'empty', 0.25)
  counts.addAttach('alpha', 'l2', 'timeout', 12)
  counts.addAttach('bravo', 'l1', 'attached', 1)
  expect(counts.attachOf('alpha')).toEqual([
    ['l1', { success: 0, null: new Map([['empty', 1]]), slowest_ms: 0.25 }],
    ['l2', { success: 1, null: new Map([['timeout', 1]]), slowest_ms: 12 }],
  ])
  expect(counts.attachOf('charlie')).toEqual([])
})

test('beyond its bound no further scope is counted, and known ones still are', () => {
  const counts = new GuideCounts()
  for (let at = 0; at < 10_001; at += 1) counts.addAttach(`tenant-${at}`, 'l1', 'attached', 1)
  counts.addAttach('tenant-0', 'l1', 'attached', 1)
  expect(counts.attachOf('tenant-10000')).toEqual([])
  expect(counts.attachOf('tenant-0')).toMatchObject([['l1', { success: 2 }]])
})
