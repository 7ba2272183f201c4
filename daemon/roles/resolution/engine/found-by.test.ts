// Each match names the rule that found its pair, and its parts add up to its score, on every route.
import { describe, expect, test } from 'vitest'
import { type Lens, lens as schema } from '../lens/model.ts'
import { listKeyViews } from './block/keys.ts'
import { nearestTexts, unblocked } from './block/rule-names.ts'
import { listMatches, type RunMatch } from './findings.ts'
import { chooseMatches } from './left-out.ts'
import { createRandom } from './random.ts'
import { buildTextColumn } from './records/collect-columns.ts'
import { buildRecords, type LensRecords } from './records/records.ts'
import { resolveRecords, usesTermFrequencies } from './resolve.ts'
import { extractScoreWeights } from './score/match-weights.ts'
import { decodeText } from './text/dictionary.ts'

type Row = Readonly<Record<string, string>>

const syllables = ['ba', 'ce', 'di', 'fo', 'gu', 'ha', 'le', 'mi', 'no', 'ru', 'sa', 'te', 'vi', 'wo', 'zu']

/** Rows of people or papers: every third one is a copy of the row before, with one letter changed. */
function buildRows(count: number, seed: number, words: number): Row[] {
  const random = createRandom(seed)
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)]!
  const word = () => pick(syllables) + pick(syllables) + pick(syllables)
  const text = () => Array.from({ length: words }, word).join(' ')
  const rows: Row[] = []
  for (let at = 0; at < count; at++) {
    const before = rows.at(-1)
    const isCopy = at % 3 === 2 && before !== undefined
    const day = String(1 + Math.floor(random() * 28)).padStart(2, '0')
    const born = `${1950 + Math.floor(random() * 9)}-0${1 + Math.floor(random() * 3)}-${day}`
    rows.push(
      isCopy ? { one: `${before.one}x`, two: before.two!, born: before.born! } : { one: text(), two: text(), born },
    )
  }
  return rows
}

function buildLensRecords(lens: Lens, tables: readonly (readonly Row[])[]): LensRecords {
  const sources = tables.map((rows, at) => ({
    name: `node-${at}`,
    rows: rows.length,
    names: ['id', ...lens.fields.map(({ name }) => name)],
    columns: [
      buildTextColumn(
        'id',
        rows.map((_, row) => `r${row}`),
      ),
      ...lens.fields.map(({ name }) =>
        buildTextColumn(
          name,
          rows.map((row) => row[name] ?? ''),
        ),
      ),
    ],
  }))
  return buildRecords(lens, sources)
}

function findMatches(lens: Lens, records: LensRecords) {
  const resolution = resolveRecords(lens, records, 7, () => undefined)
  const weights = extractScoreWeights(resolution, usesTermFrequencies(lens))
  const { pairs } = chooseMatches(resolution, 1_000_000)
  return { resolution, matches: [...listMatches(records, resolution, weights, pairs)] }
}

const peopleFields = [
  { name: 'one', type: 'name' },
  { name: 'two', type: 'name' },
  { name: 'born', type: 'date' },
]
const textFields = ['one', 'two'].map((name) => ({ name, type: 'text' }))
const parseLens = (more: object): Lens =>
  schema.parse({ lens: 'x', version: '1.0.0', entity_type: 'x', fields: peopleFields, ...more })

/** The normalised values of a row, by the id that `listMatches` gives it. */
function indexValues({ rows, names, sources, fields, idOf }: LensRecords): Map<string, Record<string, string>> {
  return new Map(
    Array.from({ length: rows }, (_, row) => {
      const values = fields.flatMap(({ name, column: { codes, dictionary } }) =>
        codes[row]! < 0 ? [] : [[name, decodeText(dictionary, codes[row]!)] as const],
      )
      return [`${names[sources[row]!]} ${idOf(row)}`, Object.fromEntries(values)]
    }),
  )
}

/** Recomputes what the fields add, and returns what is left of each score: the same for all pairs, or no explanation. */
function listBases(matches: readonly RunMatch[], per_bit: number): number[] {
  return matches.map(({ score, levels }) => {
    const bits = levels.reduce((sum, level) => sum + (level.bits ?? 0) + (level.frequency_bits ?? 0), 0)
    return score - bits * per_bit
  })
}

function expectOneBase(matches: readonly RunMatch[]): void {
  const bases = listBases(matches, Math.LN2)
  expect(matches.length).toBeGreaterThan(10)
  for (const [at, base] of bases.entries()) {
    expect(base).toBeCloseTo(bases[0] ?? Number.NaN, 6)
    expect(matches[at]?.prior_bits).toBeCloseTo(base / Math.LN2, 6)
  }
}

describe.each([1, 2, 3])('with data of seed %i', (seed) => {
  test('rules of the lens: the first one that pairs the records', () => {
    const lens = parseLens({ blocking: [['one:prefix(3)', 'born:year'], 'born', { tfidf: { k: 2 } }] })
    const records = buildLensRecords(lens, [buildRows(90, seed, 1)])
    const values = indexValues(records)
    const { matches } = findMatches(lens, records)
    for (const { left, right, found_by } of matches) {
      const [a = {}, b = {}] = [left, right].map((ref) => values.get(`${ref.node_id} ${ref.record_id}`))
      const start = (row: Row) => `${row.one?.slice(0, 3)} ${row.born?.slice(0, 4)}`
      const byKeys = start(a) === start(b) ? 'one:prefix(3) + born:year' : a.born === b.born ? 'born' : undefined
      if (byKeys) expect(found_by).toEqual([byKeys])
      else expect(['2 nearest by all texts', unblocked]).toContain(found_by[0])
    }
    expectOneBase(matches)
  })

  test('keys of the engine: both records have each key of the block', () => {
    const lens = parseLens({})
    const records = buildLensRecords(lens, [buildRows(300, seed, 1)])
    const values = indexValues(records)
    const { matches } = findMatches(lens, records)
    const names = new Set<string>()
    for (const { left, right, found_by } of matches) {
      const [a = {}, b = {}] = [left, right].map((ref) => values.get(`${ref.node_id} ${ref.record_id}`))
      expect(found_by).toHaveLength(1)
      const [rule = ''] = found_by
      names.add(rule)
      if (rule === nearestTexts || rule === unblocked) continue
      for (const part of rule.split(' + ')) {
        const [field = '', view] = part.split(': ')
        const type = peopleFields.find(({ name }) => name === field)?.type as 'name' | 'date'
        const apply = listKeyViews(type).find(([name]) => name === view)?.[1]
        expect(apply?.(a[field] ?? '-')).toBe(apply?.(b[field] ?? '+'))
      }
    }
    expect(names.size).toBeGreaterThan(1)
    expectOneBase(matches)
  })

  test('texts of one source: the scores are log-odds, and add up', () => {
    const lens = parseLens({ told_by: 'texts', fields: textFields })
    const { resolution, matches } = findMatches(lens, buildLensRecords(lens, [buildRows(60, seed, 4)]))
    expect(resolution.scale).toBe('log_odds')
    expectOneBase(matches)
  })

  test('texts of one source: every compared pair has a rule, neighbours by their texts among them', () => {
    const lens = parseLens({ told_by: 'texts', fields: textFields })
    const { resolution } = findMatches(lens, buildLensRecords(lens, [buildRows(60, seed, 4)]))
    const { ruleNames, compared } = resolution
    const names = new Set(Array.from(compared.ruleOf, (rule) => ruleNames[rule]))
    expect(names).toContain(nearestTexts)
    expect(names).not.toContain(undefined)
  })

  test('texts of two clean sources: nearest neighbours, and a similarity that the evidence of the fields raises', () => {
    const options = { told_by: 'texts', fields: textFields }
    const rows = buildRows(60, seed, 4)
    const tables = [rows.filter((_row, at) => at % 3 !== 2), rows.filter((_row, at) => at % 3 !== 1)]
    const lens = parseLens({ ...options, text_evidence: 0.02 })
    const { resolution, matches } = findMatches(lens, buildLensRecords(lens, tables))
    expect(resolution.scale).toBe('likeness')
    expect(matches.length).toBeGreaterThan(10)
    for (const { found_by } of matches) expect(found_by).toEqual([nearestTexts])
    // Without evidence of the fields, the score is the similarity of the texts alone.
    const plain = parseLens({ ...options, text_evidence: 0 })
    const { resolution: texts } = findMatches(plain, buildLensRecords(plain, tables))
    const records = buildLensRecords(plain, tables)
    const similarity = new Map<string, number>()
    for (let pair = 0; pair < texts.compared.length; pair++) {
      const [left, right] = [texts.compared.lefts[pair]!, texts.compared.rights[pair]!]
      const name = (row: number) => `${records.names[records.sources[row]!]} ${records.idOf(row)}`
      similarity.set([name(left), name(right)].sort().join(), texts.scores[pair]!)
    }
    const bases = listBases(matches, 0.02 * Math.LN2)
    const rest = matches.map(({ left, right }, at) => {
      const key = [left, right]
        .map((ref) => `${ref.node_id} ${ref.record_id}`)
        .sort()
        .join()
      return bases[at]! - (similarity.get(key) ?? Number.NaN)
    })
    // What is left is the prior of the fields, which is the same for every pair.
    for (const prior of rest) expect(prior).toBeCloseTo(rest[0] ?? Number.NaN, 9)
  })
})

test('many records: the fields that agree', () => {
  // Pairs of the keys of fourteen fields, times the records, are too many: agreement rules find the candidates.
  const dates = Array.from({ length: 12 }, (_, at) => `date${at}`)
  const lens = parseLens({ fields: [...peopleFields.slice(0, 2), ...dates.map((name) => ({ name, type: 'date' }))] })
  const rows = buildRows(11_000, 5, 1).map(({ born, ...row }, at) => {
    const [year = 0, month, day] = (born ?? '').split('-').map(Number)
    const dateOf = (field: number) => [
      year + field,
      month,
      1 + (((day ?? 0) + (at % 3 === 2 ? at - 1 : at) * field) % 28),
    ]
    return { ...row, ...Object.fromEntries(dates.map((name, field) => [name, dateOf(field).join('-')])) }
  })
  const records = buildLensRecords(lens, [rows])
  const values = indexValues(records)
  const { matches } = findMatches(lens, records)
  let byRule = 0
  for (const { left, right, found_by } of matches) {
    const [rule = ''] = found_by
    if (rule === unblocked) continue
    byRule++
    const [a = {}, b = {}] = [left, right].map((ref) => values.get(`${ref.node_id} ${ref.record_id}`))
    for (const field of rule.split(' + ')) expect(a[field] ?? `no ${field}`).toBe(b[field])
  }
  expect(byRule).toBeGreaterThan(1_000)
  expectOneBase(matches)
})
