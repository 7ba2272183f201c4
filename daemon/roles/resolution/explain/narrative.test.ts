// The description of a run is deterministic, and omits unknown facts.
import { expect, test } from 'vitest'
import { narrateRun, type RunFacts } from './narrative.ts'

const runFacts: RunFacts = {
  lens: 'persons',
  lens_version: '1.0.0',
  entity_type: 'person',
  state: 'completed',
  route: 'clusters',
  seed: 0,
  sources: [
    { name: 'north', records: 1_200 },
    { name: 'south', records: 800 },
  ],
  pairs: 15_000,
  matches: 700,
  entities: 1_400,
  clusters: 420,
  clustered: 1_020,
  sizes: [
    { size: 2, clusters: 300 },
    { size: 3, clusters: 100 },
    { size: 5, clusters: 15 },
    { size: 9, clusters: 5 },
  ],
  confirmed: 3,
  rejected: 1,
  by_consensus: 2,
  deferred: 1,
  uncertain: 12,
  evidence: [
    { field: 'email', bits: 12.34 },
    { field: 'surname', bits: 7 },
  ],
  warnings: ['2 confirmed matches are apart, since a rejected one forbids them'],
}

test('the description of a completed run has all facts', () => {
  expect(narrateRun(runFacts)).toBe(
    [
      'The run applies the lens persons 1.0.0 to 2000 records of 2 sources: north (1200) and south (800). The run is completed; the same records, lens and seed (0) give the same result.',
      '15000 pairs of records were compared. Any number of records may be one entity. They form 1400 entities of type person: 420 clusters with 1020 records, and 980 single records. By size: 300 of 2, 100 of 3 and 15 of 5, 5 larger, the largest of 9.',
      'Strongest evidence for a match, when equal: email (12.3 bits) and surname (7.0 bits).',
      '700 matches are stored. People confirmed 3 and rejected 1, and consensus decided 2; these decisions override the scores. 1 match was deferred. 12 open matches are near even odds and worth a review.',
      'Warning: 2 confirmed matches are apart, since a rejected one forbids them.\n',
    ].join('\n\n'),
  )
})

test('the description of a started or failed run has only the known facts', () => {
  const startedRun = { ...runFacts, pairs: undefined, matches: undefined, evidence: [], warnings: [] }
  expect(narrateRun({ ...startedRun, state: 'extracting', sources: [{ name: 'north' }] })).toBe(
    'The run applies the lens persons 1.0.0 to the source north. The run is extracting.\n',
  )
  expect(narrateRun({ ...startedRun, state: 'failed', failure: 'no column id' })).toContain(
    'The run failed: no column id.',
  )
})

test('counts of one are singular', () => {
  const singular = {
    ...runFacts,
    pairs: 1,
    matches: 1,
    clusters: 1,
    deferred: 0,
    uncertain: 1,
    confirmed: 0,
    rejected: 0,
  }
  const text = narrateRun({ ...singular, by_consensus: 0 })
  for (const phrase of [
    '1 pair of records was',
    '1 cluster with',
    '1 match is stored',
    '1 open match is',
    'No match has',
  ])
    expect(text).toContain(phrase)
})
