// Batches stay within their limits, and refuse only an item that is too large by itself.
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../../../daemon/kernel/error/errors.ts'
import { ClusterFailure } from '../cluster/cluster-failure.ts'
import { RequestBatcher } from './request-batcher.ts'
import { max_request_bytes, max_request_items } from './request-size.ts'

const sum = (sizes: readonly number[]) => sizes.reduce((all, size) => all + size, 0)

/** Returns each size as its outcome; refuses requests above `bytes`, as a cluster does. */
function createBatcher(bytes: number) {
  const sent: (readonly number[])[] = []
  const batch = new RequestBatcher<number, number>(async (sizes) => {
    sent.push(sizes)
    if (sum(sizes) > bytes) throw new Refusal('too_large', 'too large for the cluster')
    return sizes
  })
  const addAll = (sizes: readonly number[]) => Promise.allSettled(sizes.map((size) => batch.add(size, size)))
  return { sent, addAll }
}

const fulfilledAnswers = (sizes: readonly number[]) => sizes.map((value) => ({ status: 'fulfilled', value }))

describe('a batch', () => {
  test('is split into requests within the limits of bytes and items', async () => {
    const { sent, addAll } = createBatcher(Number.POSITIVE_INFINITY)
    const sizes = [
      ...Array.from({ length: max_request_items + 1 }, () => 10),
      ...Array.from({ length: 9 }, () => max_request_bytes / 4),
    ]
    expect(await addAll(sizes)).toEqual(fulfilledAnswers(sizes))
    expect(sent.flat()).toEqual(sizes)
    expect(sent[0]).toHaveLength(max_request_items)
    for (const request of sent) expect(sum(request)).toBeLessThanOrEqual(max_request_bytes)
  })

  test('with one item above the request limit sends it alone', async () => {
    const { sent, addAll } = createBatcher(Number.POSITIVE_INFINITY)
    await addAll([5, max_request_bytes + 1, 5])
    expect(sent).toEqual([[5], [max_request_bytes + 1], [5]])
  })

  test('that the cluster refuses for its size is halved, and later batches start smaller', async () => {
    const { sent, addAll } = createBatcher(1_000)
    const sizes = Array.from({ length: 40 }, (_, n) => 90 + n)
    expect(await addAll(sizes)).toEqual(fulfilledAnswers(sizes))
    const before = sent.length
    expect(await addAll(sizes)).toEqual(fulfilledAnswers(sizes))
    for (const request of sent.slice(before)) expect(sum(request)).toBeLessThanOrEqual(1_000)
  })

  test('refuses an item that is too large by itself, and no other item', async () => {
    const { addAll } = createBatcher(1_000)
    const outcomes = await addAll([10, 20, 5_000, 30, 2_000, 40])
    expect(outcomes.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.code))).toEqual([
      10,
      20,
      'too_large',
      30,
      'too_large',
      40,
    ])
  })

  test.each([
    ['fewer outcomes than items', (sizes: readonly number[]) => sizes.slice(1)],
    ['more outcomes than items', (sizes: readonly number[]) => [...sizes, 1]],
    ['no outcomes', () => []],
  ])('answered with %s leaves the effect of every item unknown', async (_what, answer) => {
    const batch = new RequestBatcher<number, number>(async (sizes) => answer(sizes))
    const outcomes = await Promise.allSettled([1, 2, 3].map((size) => batch.add(size, size)))
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { effect: 'unknown' } })
      expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(ClusterFailure)
    }
  })
})
