// The page stays small for any run, and says what it leaves out.
import { expect, test } from 'vitest'
import type { ReportCluster, ReportFacts, ReportPair } from './report-facts.ts'
import { renderReport } from './report-page.ts'

const text = '"<\u202e'.repeat(1_300)
const fields = Array.from({ length: 14 }, (_, at) => ({
  name: `field_${at}`,
  columns: [text],
  missing_bits: -1,
  levels: [
    { level: 'equal', bits: 3 },
    { level: 'different', bits: -3 },
  ],
}))
const record = { source: text, id: text, cluster: 1 }
const pair: ReportPair = {
  left: record,
  right: record,
  linked: false,
  score: 0.5,
  base: -3,
  changes: 2,
  fields: fields.map(({ name }) => ({
    field: name,
    left: text,
    right: `${text}.`,
    level: 'different',
    weight: 1,
    rarity: -1,
    total: 0,
  })),
}
const cluster: ReportCluster = {
  number: 1,
  size: 5_000,
  doubts: ['large', 'chained'],
  nodes: Array.from({ length: 40 }, () => ({ ...record, values: fields.map(() => text) })),
  edges: Array.from({ length: 400 }, (_, at) => ({ from: at % 40, to: (at * 7) % 40, height: at - 200 })),
}
const facts: ReportFacts = {
  lens: 'persons',
  version: '1.0.0',
  scale: 'log_odds',
  cut: 1,
  quality: {
    verdict: 'no_links',
    links: 0,
    sure_links: 0,
    route_reason: 'lens',
    carried_by: [],
    doubtful: { count: 0, worst: [] },
  },
  counts: { records: 1_000_000, pairs_compared: 2, entities: 1, clusters: 1, records_in_clusters: 2 },
  sources: [{ name: text, records: 1_000_000, path: text, sha256: 'a'.repeat(64) }],
  fields,
  scores: { from: -1, to: 3, bins: [0, 5, 7, 2].map((pairs) => ({ pairs, linked: pairs, expected: pairs / 2 })) },
  found_by: Array.from({ length: 900 }, (_, at) => ({ rule: `rule ${at}`, pairs: at })),
  rules: [],
  sizes: Array.from({ length: 900 }, (_, at) => ({ size: at + 1, clusters: 900 - at })),
  largest: Array.from({ length: 6 }, () => cluster),
  doubtful: Array.from({ length: 6 }, () => cluster),
  pairs: Array.from({ length: 200 }, () => pair),
  decided: Array.from({ length: 300 }, () => ({ left: record, right: record, isMatch: true, linked: false })),
  listed_pairs: 3_000_000,
}

test('values of any length, many rules and large clusters stay below ten million characters, and the rest is counted', () => {
  const page = renderReport(facts)
  expect(page.length).toBeLessThan(10_000_000)
  const shown = page.match(/<article /g)?.length ?? 0
  expect(page).toContain(`The ${shown} pairs whose decision changes most, of 3\u202f000\u202f000 pairs`)
  expect(page).toContain('5\u202f000 records; the first 40 are shown')
  expect(page).toContain('300 pairs are decided, and not asked about again; the result differs from 300 of them')
  expect(page).toContain('They are too many for the saved file')
  expect(page).toContain('859 further rules found')
  expect(page).toContain('sizes between the first and the last four are left out')
})

test('a result without pairs, links, clusters or scores is a page, too', () => {
  const { unlinkable: _unlinkable, ...rest } = facts
  const page = renderReport({
    ...rest,
    scale: 'likeness',
    pairs: [],
    largest: [],
    doubtful: [],
    sizes: [],
    found_by: [],
    scores: { from: 0, to: 0, bins: [] },
  })
  expect(page).toContain('No pair is open.')
  expect(page).toContain('no record has a best score by itself')
  expect(page.replace(/<script>[\s\S]*/, '')).not.toMatch(/NaN|undefined|Infinity/)
})
