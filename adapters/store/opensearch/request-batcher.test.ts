// Holds batches to their bounds, and to refuse for its size only what is too large alone.
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import { ClusterFailure } from './cluster-failure.ts'
import { RequestBatcher } from './request-batcher.ts'
import { max_request_bytes, max_request_items } from './request-size.ts'

const sum = (sizes: readonly number[]) => sizes.reduce((all, size) => all + size, 0)

/** Answers each size with itself; refuses requests beyond so many bytes, as a cluster does. */
function createBatcher(bytes: number) {
  const sent: (readonly number[])[] = []
  const batch = new RequestBatcher<number, number>(async (sizes) => {
    sent.push(sizes)
    if (sum(sizes) > bytes) throw new Refusal('too_large', 'too large for the cluster')
    return sizes
  })
  const ask = (sizes: readonly number[]) => Promise.allSettled(sizes.map((size) => batch.add(size, size)))
  return { sent, ask }
}

const fulfilledAnswers = (sizes: readonly number[]) => sizes.map((value) => ({ status: 'fulfilled', value }))

describe('a batch', () => {
  test('goes in requests of so many bytes and items at most', async () => {
    const { sent, ask } = createBatcher(Number.POSITIVE_INFINITY)
    const sizes = [
      ...Array.from({ length: max_request_items + 1 }, () => 10),
      ...Array.from({ length: 9 }, () => max_request_bytes / 4),
    ]
    expect(await ask(sizes)).toEqual(fulfilledAnswers(sizes))
    expect(sent.flat()).toEqual(sizes)
    expect(sent[0]).toHaveLength(max_request_items)
    for (const request of sent) expect(sum(request)).toBeLessThanOrEqual(max_request_bytes)
  })

  test('with one item that is larger than a request may be sends it alone', async () => {
    const { sent, ask } = createBatcher(Number.POSITIVE_INFINITY)
    await ask([5, max_request_bytes + 1, 5])
    expect(sent).toEqual([[5], [max_request_bytes + 1], [5]])
  })

  test('that the cluster refuses for its size goes by halves, and the next ones are smaller from the start', async () => {
    const { sent, ask } = createBatcher(1_000)
    const sizes = Array.from({ length: 40 }, (_, n) => 90 + n)
    expect(await ask(sizes)).toEqual(fulfilledAnswers(sizes))
    const before = sent.length
    expect(await ask(sizes)).toEqual(fulfilledAnswers(sizes))
    for (const request of sent.slice(before)) expect(sum(request)).toBeLessThanOrEqual(1_000)
  })

  test('refuses what is too large alone, and nothing beside it', async () => {
    const { ask } = createBatcher(1_000)
    const outcomes = await ask([10, 20, 5_000, 30, 2_000, 40])
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
    ['fewer', (sizes: readonly number[]) => sizes.slice(1)],
    ['more', (sizes: readonly number[]) => [...sizes, 1]],
    ['no', () => []],
  ])('that is answered with %s outcomes than it has items has none that is certain', async (_what, answer) => {
    const batch = new RequestBatcher<number, number>(async (sizes) => answer(sizes))
    const outcomes = await Promise.allSettled([1, 2, 3].map((size) => batch.add(size, size)))
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { effect: 'unknown' } })
      expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(ClusterFailure)
    }
  })
})
