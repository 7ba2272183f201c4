// Clusters pairs by scores that labels moved, at the cuts worth a comparison.
import type { Lens } from '../../lens/model.ts'
import { assignAcrossSources, listSides } from '../cluster/clean-sources.ts'
import { applyLensCut, clusterByMethod } from '../cluster/clustering.ts'
import { joinLinks } from '../cluster/rivals.ts'
import type { ComparedPairs } from '../compare/patterns.ts'
import type { EngineProgressListener } from '../progress.ts'
import type { LensRecords } from '../records/records.ts'
import { personSettings, type ResolutionRoute } from '../resolution-context.ts'
import { logistic } from '../score/model.ts'

/**
 * Cuts of average link, in natural log-odds that labels have calibrated: at even odds, and below, where the third records
 * of a cluster vouch for its pairs (decision 0029).
 */
const average_link_cuts = [0, -1, -2] as const
/** Less than the least difference of two scores that counts, so that the last link exceeds its cut. */
const cut_margin = 1e-6

/** A cut in natural log-odds, and the clusters above it. */
export type CutClusters = { readonly cut: number; readonly clusters: Int32Array }

/**
 * Clusters as a run does with a cut in its lens. Several results, the most plausible first, where only labels can tell
 * which cut is best.
 */
export function clusterMovedScores(
  { lens, records, route }: { readonly lens: Lens; readonly records: LensRecords; readonly route: ResolutionRoute },
  compared: ComparedPairs,
  scores: Float64Array,
  report: EngineProgressListener,
): CutClusters[] {
  if (route === 'links') return [linkByExpectedF1(records, compared, scores)]
  return average_link_cuts.map((cut) => {
    const settings = applyLensCut({ ...lens, threshold: cut / Math.LN2 }, personSettings) ?? personSettings
    return { cut, clusters: clusterByMethod(lens.clustering, records, compared, scores, settings, report) }
  })
}

/** Links one to one, as far as the expected F1 rises: probabilities are calibrated by the labels. */
function linkByExpectedF1(
  { rows, sources }: Pick<LensRecords, 'rows' | 'sources'>,
  compared: ComparedPairs,
  scores: Float64Array,
): CutClusters {
  const links = assignAcrossSources(listSides(sources), compared, scores)
  const matches = links.reduce((sum, link) => sum + logistic(scores[link]!), 0)
  let right = 0
  let best = { f1: 0, cut: 0 }
  for (const [at, link] of links.entries()) {
    right += logistic(scores[link]!)
    const f1 = (2 * right) / (at + 1 + matches)
    if (f1 > best.f1) best = { f1, cut: scores[link]! - cut_margin }
  }
  return { cut: best.cut, clusters: joinLinks(rows, compared, links, (link) => scores[link]! > best.cut) }
}
