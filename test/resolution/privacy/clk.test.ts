// Vectors that are alike where records are: known values, what must hold of all, and how right links are with no record seen.
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readLens } from '../../../daemon/offline/resolve/lens/lens-file.ts'
import { popCount } from '../../../daemon/roles/resolution/engine/pop-count.ts'
import { computeDice, countCommonBits, countVectorBits } from '../../../daemon/roles/resolution/privacy/clk/dice.ts'
import { encodeClk, splitGrams } from '../../../daemon/roles/resolution/privacy/clk/encode.ts'
import { type ClkLinks, linkVectors } from '../../../daemon/roles/resolution/privacy/clk/link.ts'
import {
  type ClkParameters,
  clkParameters,
  computeVectorLength,
  countFieldHashes,
} from '../../../daemon/roles/resolution/privacy/clk/parameters.ts'
import { buildLensRecords } from '../../support/resolution/build-lens-records.ts'
import { generatePeople } from '../../support/resolution/generate-people.ts'

const lens = readLens('persons')
const names = ['given_name', 'surname', 'date_of_birth', 'city', 'postcode', 'email']
const key = new Uint8Array(32).fill(7)
const unfolded = clkParameters.parse({ fold: false })

const encodeCsv = async (csv: string, parameters: ClkParameters = unfolded, secret = key) =>
  encodeClk(await buildLensRecords(lens, csv), names, secret, parameters)

test('a bit vector is what the HMACs of its grams say', async () => {
  const parameters = clkParameters.parse({ length: 512, hashes: 3, fold: false })
  const places = ['surname\n a', 'surname\nab', 'surname\nb '].flatMap((gram) => {
    const digest = createHmac('sha256', key).update(gram).digest()
    return [0, 2, 4].map((at) => digest.readUInt16LE(at) % 512)
  })
  const vector = await encodeCsv('id,surname\n1,Ab\n', parameters)
  const set = Array.from({ length: 512 }, (_, bit) => bit).filter((bit) => (vector[bit >>> 5] ?? 0) & (1 << (bit & 31)))
  expect(set).toEqual([...new Set(places)].sort((a, b) => a - b))
})

test('grams: letters in overlapping pieces with both ends, digits of a date with their places', () => {
  expect(splitGrams('anna', 'name', 2)).toEqual([' a', 'an', 'nn', 'na', 'a '])
  expect(splitGrams('19', 'year', 2)).toEqual(['01', '19'])
  expect(splitGrams('', 'name', 2)).toEqual([])
})

test('equal records are equal vectors; another key, a field left out, another value are others', async () => {
  const csv = 'id,surname,given_name\n1,Smith,Ann\n2,SMITH,ann\n3,Smyth,Ann\n'
  const words = unfolded.length / 32
  const vectors = await encodeCsv(csv)
  expect(vectors.subarray(0, words)).toEqual(vectors.subarray(words, 2 * words))
  expect(vectors.subarray(0, words)).not.toEqual(vectors.subarray(2 * words))
  expect(await encodeCsv(csv, unfolded, new Uint8Array(32))).not.toEqual(vectors)
  expect(encodeClk(await buildLensRecords(lens, csv), ['surname'], key, unfolded)).not.toEqual(vectors)
})

test('a weight is how many bits a gram sets, and folding halves a vector', async () => {
  expect(countFieldHashes(clkParameters.parse({ hashes: 10, weights: { surname: 1.5 } }), 'surname')).toBe(15)
  expect(countFieldHashes(clkParameters.parse({ hashes: 10, weights: { surname: 8 } }), 'surname')).toBe(16)
  expect(countFieldHashes(clkParameters.parse({ hashes: 1, weights: { surname: 0.1 } }), 'surname')).toBe(1)
  const parameters = clkParameters.parse({})
  expect(computeVectorLength(parameters)).toBe(512)
  const [whole, half] = [await encodeCsv('id,surname\n1,Smith\n'), await encodeCsv('id,surname\n1,Smith\n', parameters)]
  expect(half).toEqual(Uint32Array.from({ length: 16 }, (_, at) => (whole[at] ?? 0) ^ (whole[at + 16] ?? 0)))
})

test('bits are counted, and Dice is twice the common bits over all', () => {
  fc.assert(
    fc.property(fc.integer(), (word) => {
      expect(popCount(word)).toBe((word >>> 0).toString(2).replaceAll('0', '').length)
    }),
  )
  const [left, right] = [Uint32Array.of(0b1110, 1), Uint32Array.of(0b0111, 0)]
  expect([...countVectorBits(Uint32Array.of(0b1110, 1, 0b0111, 0), 2)]).toEqual([4, 3])
  expect(computeDice(countCommonBits(left, 0, right, 0, 2), 4, 3)).toBeCloseTo((2 * 2) / 7)
  expect(computeDice(0, 0, 0)).toBe(0)
})

test('blocks find what comparing all with all finds, but for one pair in a hundred', async () => {
  const { vectors, words, length } = await buildLinkageCase(400, 3, clkParameters.parse({}))
  const settings = { length, threshold: 0.75, one_to_one: false, seed: 1 }
  const all = new Set<string>()
  const weights = countVectorBits(vectors.ours, words)
  const others = countVectorBits(vectors.theirs, words)
  for (let row = 0; row < weights.length; row++) {
    for (let other = 0; other < others.length; other++) {
      const score = computeDice(
        countCommonBits(vectors.ours, row, vectors.theirs, other, words),
        weights[row] ?? 0,
        others[other] ?? 0,
      )
      if (score >= settings.threshold) all.add(`${row} ${other}`)
    }
  }
  const once = linkSides(vectors.ours, vectors.theirs, settings)
  const found = once.pairs.map(([row, other]) => `${row} ${other}`)
  expect(found.every((pair) => all.has(pair))).toBe(true)
  expect(found.length / all.size).toBeGreaterThan(0.99)
  expect(linkSides(vectors.ours, vectors.theirs, settings)).toEqual(once)
})

test('one to one: no record is in two pairs, and the best pair of a record wins', async () => {
  const { vectors, length } = await buildLinkageCase(300, 5, clkParameters.parse({}))
  const settings = { length, threshold: 0.7, one_to_one: true, seed: 1 }
  const { pairs } = linkSides(vectors.ours, vectors.theirs, settings)
  expect(new Set(pairs.map(([row]) => row)).size).toBe(pairs.length)
  expect(new Set(pairs.map(([, other]) => other)).size).toBe(pairs.length)
})

test('vectors without a bit link to nothing, and a block of everything is left out and reported', () => {
  const settings = { length: 64, threshold: 0.8, one_to_one: false, seed: 1 }
  expect(linkSides(new Uint32Array(20), new Uint32Array(20), settings).pairs).toEqual([])
  const same = new Uint32Array(2_000).fill(0xff)
  expect(linkVectors(same, same, settings)).toMatchObject({ pairs: [], compared: 0 })
  expect(linkSides(same, same, settings).blocks_left_out).toBeGreaterThan(0)
})

test.each([
  { fold: true, threshold: 0.75, precision: 0.99, recall: 0.8 },
  { fold: false, threshold: 0.8, precision: 0.98, recall: 0.85 },
])('made-up people with one to three faults are linked with no record seen (fold: $fold)', async (params) => {
  const { vectors, length, truth } = await buildLinkageCase(1_000, 11, clkParameters.parse({ fold: params.fold }))
  const { pairs } = linkSides(vectors.ours, vectors.theirs, {
    length,
    threshold: params.threshold,
    one_to_one: false,
    seed: 1,
  })
  const right = pairs.filter(([row, other]) => truth.ours[row] === truth.theirs[other]).length
  expect(right / pairs.length).toBeGreaterThan(params.precision)
  expect(right / truth.pairs).toBeGreaterThan(params.recall)
})

test('a threshold that lets everything through is refused', async () => {
  const { vectors, length } = await buildLinkageCase(300, 5, clkParameters.parse({ fold: false }))
  expect(
    linkVectors(vectors.ours, vectors.theirs, { length, threshold: 0.2, one_to_one: false, seed: 1 }),
  ).toBeUndefined()
})

function linkSides(...args: Parameters<typeof linkVectors>): ClkLinks {
  const answer = linkVectors(...args)
  if (!answer) throw new Error('too many pairs')
  return answer
}

/** People in two files of which neither knows the other's; `truth` says whose records they are. */
async function buildLinkageCase(people: number, seed: number, parameters: ClkParameters) {
  const { csv, truth } = generatePeople(people, seed)
  const [head, ...lines] = csv.trimEnd().split('\n')
  const buildSide = async (side: number) => {
    const rows = lines.map((_, at) => at).filter((at) => at % 2 === side)
    const records = await buildLensRecords(lens, [head, ...rows.map((at) => lines[at]), ''].join('\n'))
    return { vectors: encodeClk(records, names, key, parameters), people: rows.map((at) => truth[at]?.[1] ?? -1) }
  }
  const sides = [await buildSide(0), await buildSide(1)]
  const [ours, theirs] = [sides[0]?.people ?? [], sides[1]?.people ?? []]
  const pairs = ours.reduce((sum, person) => sum + theirs.filter((other) => other === person).length, 0)
  const length = computeVectorLength(parameters)
  return {
    vectors: { ours: sides[0]?.vectors ?? new Uint32Array(), theirs: sides[1]?.vectors ?? new Uint32Array() },
    words: length / 32,
    length,
    truth: { ours, theirs, pairs },
  }
}
