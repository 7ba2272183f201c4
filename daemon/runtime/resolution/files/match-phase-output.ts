// The output of the match phase of a run: compared pairs with their scores, and the clusters, for the phase that follows.
import type { Resolution } from '../../../roles/resolution/engine/resolve.ts'
import type { MatchWeights } from '../../../roles/resolution/engine/score/match-weights.ts'
import { readArrays, writeArrays } from './array-file.ts'

/** `threshold`: bits, where one was set before matching. `prior`: undefined in files of a release that did not store it. */
export type MatchPhaseOutput = Resolution & {
  readonly weights: MatchWeights
  readonly threshold: number | undefined
  readonly prior: number | undefined
}
type MatchPhaseHead = Pick<MatchPhaseOutput, 'route' | 'scale' | 'floor' | 'cut' | 'threshold' | 'weights'> & {
  readonly fields: number
  readonly length: number
  /** Absent in a file of a release that did not store rules. */
  readonly ruleNames?: readonly string[]
  /** Absent in a file of a release that did not estimate quality. */
  readonly basis?: Pick<Resolution, 'reason' | 'training'> & { readonly prior: number }
}
type MatchPhaseArrays = [
  lefts: Int32Array,
  rights: Int32Array,
  patternOf: Int32Array,
  patterns: Uint8Array,
  counts: Float64Array,
  scores: Float64Array,
  clusters: Int32Array,
  ruleOf?: Uint16Array,
]

export function writeMatchPhaseOutput(file: string, output: MatchPhaseOutput & { readonly prior: number }): void {
  const { route, reason, training, prior, scale, floor, cut, threshold, weights, ruleNames, scores, clusters } = output
  const { lefts, rights, patternOf, ruleOf, patterns, counts, fields, length } = output.compared
  const basis = { reason, training, prior }
  const head: MatchPhaseHead = { route, scale, floor, cut, fields, length, weights, threshold, ruleNames, basis }
  writeArrays(file, head, [lefts, rights, patternOf, patterns, counts, scores, clusters, ruleOf])
}

export function readMatchPhaseOutput(file: string): MatchPhaseOutput {
  const { head, arrays } = readArrays(file)
  const { route, scale, floor, cut, threshold, fields, length, weights, ruleNames = [], basis } = head as MatchPhaseHead
  const [lefts, rights, patternOf, patterns, counts, scores, clusters, ruleOf = new Uint16Array(0)] =
    arrays as MatchPhaseArrays
  return {
    route,
    reason: basis?.reason ?? 'lens',
    training: basis?.training ?? 'lens',
    prior: basis?.prior,
    scale,
    floor,
    cut,
    threshold,
    compared: { length, lefts, rights, patternOf, ruleOf, fields, patterns, counts },
    ruleNames,
    scores,
    clusters,
    weights,
  }
}
