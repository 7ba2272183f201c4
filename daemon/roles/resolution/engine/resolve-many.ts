// Finds who is who among many records: candidates by a few rules, weights learnt beside chance, clusters by average link.

import { rulesFor } from './block/rule-choice.ts'
import { eachRulePair } from './block/rule-pairs.ts'
import { clustered, grouped } from './cluster/clustered.ts'
import { complete } from './cluster/completion.ts'
import { comparing } from './compare/pairs.ts'
import { drawnPairs, PairList } from './compare/patterns.ts'
import { began } from './progress.ts'
import type { Records } from './records/records.ts'
import type { Found, Given } from './resolve-clusters.ts'
import { trainedBesideChance } from './score/beside-chance.ts'
import { firstModel } from './score/model.ts'
import { overlaps } from './score/overlap.ts'
import { pairScores } from './score/pair-scores.ts'
import { countsOf } from './text/dictionary.ts'

/** Rows that a block of a rule may have. */
const cap = 10
const rounds = 4

/**
 * Rules bring pairs together that agree in two fields or one, and so most of what does not match agrees in just those: how
 * often fields agree by chance is not to be learnt from candidates here, but from pairs drawn from all.
 */
export function resolveMany(records: Records, { settings, random, swapped, tell }: Given): Found {
  const { rows, fields } = records
  began(tell, 'candidates')
  const compares = comparing(fields, swapped)
  const sizes = fields.map(({ column }) => countsOf(column))
  const copies = overlaps(compares.table, sizes, random)
  const rules = rulesFor(compares.table, sizes, copies, random)
  began(tell, 'compare')
  const list = new PairList(compares)
  eachRulePair(compares.table, rules, cap, (a, b) => list.add(a, b))
  began(tell, 'train')
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  const first = firstModel(compares, drawnPairs(compares, rows, random), lambda)
  const model = trainedBesideChance({ first, comparing: compares, copies, rows }, list.compared(), rounds)
  began(tell, 'cluster')
  const rating = { compares, rows, hasFrequencies: settings.hasFrequencies }
  const scores = pairScores(rating, list.compared(), model)
  const found = grouped(records, list.compared(), scores, settings)
  if (found.areFew) return found
  complete(found.clusters, rows, list, scores)
  const compared = list.compared()
  const completed = pairScores(rating, compared, model)
  const before = { clusters: found.clusters, from: scores.length }
  return { ...found, clusters: clustered(rows, compared, completed, settings, before), compared, scores: completed }
}
