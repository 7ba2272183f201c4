// Explains how two records could have become a candidate: which rules bring them together, and why the others do not.
import type { Lens } from '../lens/model.ts'
import {
  explainAgreementRules,
  explainKeys,
  explainLensRules,
  mayBeCompared,
  type PairRule,
} from './block/pair-rules.ts'
import { nearestTexts, unblocked } from './block/rule-names.ts'
import { chooseNeighbourCount, findNeighbourRows, hasManyRecords, min_block_evidence } from './candidates.ts'
import { max_rule_block_rows } from './many-records.ts'
import { type EngineProgressListener, reportPhaseStart } from './progress.ts'
import type { LensRecords } from './records/records.ts'
import type { ResolutionRoute } from './resolution-context.ts'
import { createResolutionContext, type ScoreScale } from './resolve.ts'

export type PairCandidacy = {
  /** Whether the lens lets the two records be compared: `link_only` keeps records of one source apart. */
  readonly allowed: boolean
  readonly rules: readonly PairRule[]
}

export type CandidacyBasis = {
  readonly scale: ScoreScale
  readonly route: ResolutionRoute
  /** Names of the rules of the run. */
  readonly ruleNames: readonly string[]
}

/**
 * Explains the candidacy of two rows. `isListed`: whether the run is known to have compared them; otherwise nearest texts are searched
 * for, which takes as long as it did in the run. Throws `LensFault`.
 */
export function explainCandidacy(
  lens: Lens,
  records: LensRecords,
  { scale, ruleNames }: CandidacyBasis,
  [a, b]: readonly [number, number],
  isListed: boolean,
  report: EngineProgressListener,
): PairCandidacy {
  const allowed = mayBeCompared(lens, records, a, b)
  // Between two clean sources of texts, nearest texts are the only rule; the score tells the pairs that were compared.
  if (scale === 'likeness')
    return { allowed, rules: [{ rule: nearestTexts, outcome: isListed ? 'together' : 'not_near' }] }
  const lensRules = explainLensRules(lens, records, a, b)
  if (lensRules) return { allowed, rules: lensRules }
  if (hasManyRecords(records)) {
    const names = ruleNames.filter((name) => name !== unblocked)
    return { allowed, rules: explainAgreementRules(records, names, max_rule_block_rows, a, b) }
  }
  const { settings } = createResolutionContext(lens, records, 0, report)
  const rules = explainKeys(records, { cap: settings.cap, min_evidence: min_block_evidence }, a, b)
  const k = chooseNeighbourCount(lens, records.rows, settings.neighbours)
  if (k === 0 || isListed) return { allowed, rules }
  reportPhaseStart(report, 'candidates')
  const near = findNeighbourRows(records, k)
  const isNear = near(Math.min(a, b)).includes(Math.max(a, b))
  return { allowed, rules: [...rules, { rule: nearestTexts, outcome: isNear ? 'together' : 'not_near' }] }
}
