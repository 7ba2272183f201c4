// Two sides find exactly their shared elements, in any order, and nothing of an invalid set of points.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { curve25519Blinding } from '../../../adapters/blinding/curve25519/blinding.ts'
import { performBlinding } from '../../../adapters/blinding/curve25519/perform-blinding.ts'
import { findPointSetFault, sharesPoint, sortPoints } from '../../../daemon/roles/resolution/privacy/psi/points.ts'
import { computeTagBytes, intersectTags } from '../../../daemon/roles/resolution/privacy/psi/tags.ts'

const blinding = curve25519Blinding(async (work) => performBlinding(work), 3)
const { signal } = new AbortController()
const secret = (seed: number) => new Uint8Array(32).fill(seed)

/** The result of the first side, with all messages between the two. */
async function findShared(ours: readonly string[], theirs: readonly string[], domain = 'run 1') {
  const width = computeTagBytes(ours.length, theirs.length)
  const [one, other] = [secret(1), secret(2)]
  const mine = sortPoints(await blinding.blindValues(domain, ours, one, signal), 32)
  const yours = sortPoints(await blinding.blindValues(domain, theirs, other, signal), 32)
  const answered = await blinding.tagPoints(domain, mine.sorted, other, width, signal)
  const found = await blinding.tagPoints(domain, yours.sorted, one, width, signal)
  if (!answered || !found) throw new Error('points of our own are refused')
  const shared = intersectTags(answered, found, width)
  return {
    ours: Array.from(shared.left, (place) => ours[mine.order[place] ?? -1]).sort(),
    theirs: Array.from(shared.right, (place) => theirs[yours.order[place] ?? -1]).sort(),
    sent: mine.sorted.length + yours.sorted.length + answered.length,
    points: mine.sorted,
  }
}

test('both sides find exactly the values that they share', async () => {
  const sets = fc.uniqueArray(fc.string({ maxLength: 12 }), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(sets, sets, async (ours, theirs) => {
      const expected = ours.filter((value) => theirs.includes(value)).sort()
      const found = await findShared(ours, theirs)
      expect(found.ours).toEqual(expected)
      expect(found.theirs).toEqual(expected)
    }),
    { numRuns: 40 },
  )
})

test('values keep their order through pieces', async () => {
  const many = Array.from({ length: 2_500 }, (_, at) => `value ${at}`)
  const found = await findShared(many, many.slice(2_000).toReversed())
  expect(found.ours).toEqual(many.slice(2_000).sort())
  expect(found.sent).toBe(2_500 * 32 + 500 * 32 + 2_500 * computeTagBytes(2_500, 500))
})

test('the order of the records does not show, and another run shows nothing of this one', async () => {
  const values = ['ann', 'bob', 'cyd', 'dan']
  const [first, again, other] = await Promise.all([
    findShared(values, []),
    findShared(values.toReversed(), []),
    findShared(values, [], 'run 2'),
  ])
  expect(again.points).toEqual(first.points)
  expect(other.points).not.toEqual(first.points)
})

test('a tag is long enough for fewer than one accident in 2^40 runs', () => {
  expect([
    computeTagBytes(1, 1),
    computeTagBytes(10_000, 10_000),
    computeTagBytes(100_000, 100_000),
    computeTagBytes(2 ** 32, 2 ** 32),
  ]).toEqual([5, 9, 10, 13])
})

test('points travel strictly ascending, and as many as were agreed', async () => {
  const { points } = await findShared(['ann', 'bob', 'cyd'], [])
  expect(findPointSetFault(points, 3)).toBeUndefined()
  expect(findPointSetFault(points, 2)).toMatch(/96 bytes, and 2 points have 64/)
  expect(findPointSetFault(points.subarray(0, 95), 3)).toMatch(/95 bytes/)
  const twice = Buffer.concat([points.subarray(0, 32), points.subarray(0, 32)])
  expect(findPointSetFault(twice, 2)).toMatch(/point 1 is not above/)
  const swapped = Buffer.concat([points.subarray(32, 64), points.subarray(0, 32)])
  expect(findPointSetFault(swapped, 2)).toMatch(/point 1 is not above/)
})

test('a point of low order or above the prime among good ones refuses them all', async () => {
  const { points } = await findShared(['ann', 'bob'], [])
  for (const bad of [new Uint8Array(32), new Uint8Array(32).fill(0xff)]) {
    expect(await blinding.tagPoints('run', Buffer.concat([points, bad]), secret(3), 8, signal)).toBeUndefined()
  }
  expect(await blinding.tagPoints('run', points.subarray(1), secret(3), 8, signal)).toBeUndefined()
})

test('points that come back to whom they were sent are known by one of them', async () => {
  const mine = (await findShared(['ann', 'bob', 'cyd'], [])).points
  const others = sortPoints(await blinding.blindValues('run 1', ['ann', 'dan'], secret(2), signal), 32).sorted
  const withOneOfOurs = sortPoints(Buffer.concat([others, mine.subarray(32, 64)]), 32).sorted
  expect([sharesPoint(mine, others), sharesPoint(mine, withOneOfOurs), sharesPoint(mine, mine)]).toEqual([
    false,
    true,
    true,
  ])
  expect(sharesPoint(mine, new Uint8Array())).toBe(false)
})
