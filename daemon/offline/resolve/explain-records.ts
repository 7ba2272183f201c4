// Explains the score of any two records of a run of files, compared or not.
import { explainCandidacy, type PairCandidacy } from '../../roles/resolution/engine/pair-candidacy.ts'
import type { EngineProgressListener } from '../../roles/resolution/engine/progress.ts'
import { type ComparisonState, describeComparison } from '../../roles/resolution/explain/describe-candidacy.ts'
import {
  type ExplainedRecord,
  formatPairExplanation,
  type RecordPairExplanation,
} from '../../roles/resolution/explain/pair-explanation.ts'
import type { Waterfall } from '../../roles/resolution/explain/waterfall.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { findRecord } from './folder/find-record.ts'
import { type FileRun, openRun } from './folder/open-run.ts'
import { createOriginalReader } from './folder/original-values.ts'
import { explainPair, findPair, type RecordRows, weighPairs } from './folder/pair-scorer.ts'
import { convertLensFaults } from './lens-records.ts'

export type RecordPairRequest = {
  readonly out: string
  readonly left: string
  readonly right: string
  /** Data files that were moved since the run. */
  readonly data: readonly string[]
  /** Columns of the text. */
  readonly width: number
}

/** Explains the pair. Throws `OfflineCommandError`: 1, 2, 5. */
export async function explainRecords(
  { out, left, right, data, width }: RecordPairRequest,
  onProgress: EngineProgressListener,
): Promise<RecordPairExplanation> {
  const run = await openRun(out, data, onProgress)
  const pair: RecordRows = [findRecord(run, left), findRecord(run, right)]
  if (pair[0] === pair[1]) throw new OfflineCommandError(2, `${left} and ${right} are the same record`)
  const [levels = []] = weighPairs(run, [pair])
  const at = findPair(run, pair)
  const isLikeness = run.model.scale === 'likeness'
  const likeness = isLikeness && at >= 0 ? run.pairs.scores[at] : undefined
  const sum = explainPair(run, pair, levels, likeness)
  const { state, candidacy } = determineComparison(run, pair, at, sum.total, onProgress)
  const found_by = candidacy.rules.filter(({ outcome }) => outcome === 'together').map(({ rule }) => rule)
  const waterfall: Waterfall = { ...sum, found_by }
  const original = createOriginalReader(run.model.lens, run.records, run.sources)
  const explanation = {
    left: describeRecord(run, pair[0]),
    right: describeRecord(run, pair[1]),
    state,
    linked: run.clusters[pair[0]] === run.clusters[pair[1]],
    score: isLikeness && likeness === undefined ? null : waterfall.total,
    scale: isLikeness ? 'likeness' : 'bits',
    cut: run.model.cut,
    prior_bits: run.model.prior_bits ?? null,
    fields: waterfall.steps.map(({ field, left: one, right: other, level, ...step }, number) => ({
      field,
      original: [original(pair[0], number) ?? null, original(pair[1], number) ?? null] as const,
      normalised: [one ?? null, other ?? null] as const,
      level: level ?? null,
      ...step,
    })),
    rules: candidacy.rules,
    reason: describeComparison(state, candidacy),
  } as const
  return { ...explanation, text: formatPairExplanation(explanation, waterfall, width) }
}

/** Slack of scores with four decimals, in bits. */
const score_slack = 0.001

/**
 * Determines whether the run compared the pair. Its file of pairs has every pair above the floor, so that only the rules can tell
 * a pair below it.
 */
function determineComparison(
  run: FileRun,
  pair: RecordRows,
  at: number,
  bits: number,
  onProgress: EngineProgressListener,
): { state: ComparisonState; candidacy: PairCandidacy } {
  const { model, summary, records } = run
  const isAbove = model.scale === 'log_odds' && bits > model.floor + score_slack
  const isListed = at >= 0
  const isComplete = summary.pairs === 'all' || isAbove
  const basis = { scale: model.scale, route: summary.route, ruleNames: model.found_by.map(({ rule }) => rule) }
  const candidacy = convertLensFaults(() => explainCandidacy(model.lens, records, basis, pair, isListed, onProgress))
  if (isListed) return { state: 'compared', candidacy }
  if (model.scale === 'likeness' && candidacy.allowed && summary.pairs !== 'all')
    return { state: 'not_listed', candidacy }
  const isCandidate = candidacy.allowed && candidacy.rules.some(({ outcome }) => outcome === 'together')
  if (!isCandidate) return { state: 'never_compared', candidacy }
  return { state: isComplete ? 'left_out' : 'below_floor', candidacy }
}

function describeRecord({ records, clusters }: FileRun, row: number): ExplainedRecord {
  const cluster = clusters[row] ?? 0
  let size = 0
  for (const other of clusters) if (other === cluster) size++
  return { source: records.names[records.sources[row] ?? 0] ?? '', id: records.idOf(row), cluster, size }
}
