// Sections about scores: their distribution, precision and recall by threshold, and records that no partner can reach.
import { listCountTicks, renderPlot, scaleCount, shareTicks } from '../../../shared/report/chart/plot.ts'
import { formatShare, formatWhole } from '../../../shared/report/format-figures.ts'
import { html, type Markup } from '../../../shared/report/markup.ts'
import { formatScore } from './elements.ts'
import type { ReportCurve, ReportFacts } from './report-facts.ts'

const nameScore = ({ scale }: Pick<ReportFacts, 'scale'>) =>
  scale === 'log_odds' ? 'score in bits' : 'text similarity'

/** Pairs, and the matches that the scores expect, from each border of two bins up. */
function sumAbove({ from, to, bins }: ReportFacts['scores']): { at: number; pairs: number; expected: number }[] {
  const width = (to - from) / (bins.length || 1)
  let [pairs, expected] = [0, 0]
  const sums = bins.toReversed().map((bin, index) => {
    pairs += bin.pairs
    expected += bin.expected
    return { at: from + (bins.length - 1 - index) * width, pairs, expected }
  })
  return sums.toReversed()
}

export function renderHistogram(facts: ReportFacts): Markup {
  const { scores, cut, scale } = facts
  const width = (scores.to - scores.from) / (scores.bins.length || 1)
  const heights = (countOf: (bin: ReportFacts['scores']['bins'][number]) => number) =>
    scores.bins.map((bin, at) => [scores.from + at * width, scaleCount(countOf(bin))] as const)
  const all = heights(({ pairs }) => pairs)
  const ticks = listCountTicks(Math.max(1, ...scores.bins.map(({ pairs }) => pairs)))
  const above = sumAbove(scores).find(({ at }) => at >= cut - width / 1_000)?.pairs ?? 0
  return renderPlot({
    title: 'Compared pairs by score',
    description: `${formatWhole(above)} of ${formatWhole(facts.counts.pairs_compared)} compared pairs lie above the cut of ${formatScore(cut, scale)}. The height is a logarithm, since most pairs are not matches.`,
    x: { label: nameScore(facts), from: scores.from, to: scores.to },
    y: { label: 'pairs', to: ticks.at(-1)?.at ?? 1, ticks },
    lines: [
      { name: 'not linked', colour: 2, points: all, isArea: true, isSteps: true },
      { name: 'linked', colour: 1, points: heights(({ linked }) => linked), isArea: true, isSteps: true },
    ],
    marks: [{ at: cut, label: 'cut' }],
  })
}

export function renderCurves(facts: ReportFacts): Markup {
  const { scores, cut, labelled, quality } = facts
  const sums = sumAbove(scores).filter(({ pairs }) => pairs > 0)
  const total = sums[0]?.expected ?? 0
  const estimated = {
    precision: sums.map(({ at, pairs, expected }) => [at, expected / pairs] as const),
    recall: sums.map(({ at, expected }) => [at, total === 0 ? 0 : expected / total] as const),
  }
  const { precision, recall } = labelled ?? estimated
  const figures = `at the cut, ${formatShare(interpolate(precision, cut))} and ${formatShare(interpolate(recall, cut))}`
  const basis = labelled
    ? `Precision and recall of pairs by the labels, for the scores alone: ${figures}; the best F1 is ${labelled.f1.toFixed(3)}.`
    : `The curves count the compared pairs by the probabilities of the scores alone, as if every pair above a threshold were linked: ${figures}.${describeEstimate(facts)}`
  const x = { label: `threshold: ${nameScore(facts)}`, from: scores.from, to: scores.to }
  const curves = renderPlot({
    title: 'Precision and recall by threshold',
    description: basis,
    x,
    y: { label: 'share', to: 1, ticks: shareTicks },
    lines: [
      { name: 'precision', colour: 1, points: precision },
      { name: 'recall', colour: 2, points: recall },
    ],
    marks: [
      { at: cut, label: 'cut' },
      ...(labelled?.best === undefined ? [] : [{ at: labelled.best, label: 'best F1' }]),
    ],
    estimates: [quality.precision, quality.recall].flatMap((estimate, at) =>
      estimate && !labelled ? [{ colour: at === 0 ? 1 : 2, at: cut, ...estimate }] : [],
    ),
  })
  const ticks = listCountTicks(sums[0]?.pairs ?? 1)
  const links = renderPlot({
    title: 'Pairs by threshold',
    description: 'Number of compared pairs with a score at or above each threshold, as a logarithm.',
    x,
    y: { label: 'pairs', to: ticks.at(-1)?.at ?? 1, ticks },
    lines: [{ name: 'pairs', colour: 1, points: sums.map(({ at, pairs }) => [at, scaleCount(pairs)]) }],
    marks: [{ at: cut, label: 'cut' }],
  })
  return html`${curves}${links}`
}

/** Why the estimate of the run differs from the curves at the cut. */
function describeEstimate({ quality: { precision, recall }, scores, cut }: ReportFacts): string {
  if (!precision || !recall) return ''
  const width = (scores.to - scores.from) / (scores.bins.length || 1)
  let [apart, joined] = [0, 0]
  for (const [at, bin] of scores.bins.entries()) {
    if (scores.from + at * width >= cut - width / 1_000) apart += bin.pairs - bin.linked
    else joined += bin.linked
  }
  return ` The dots are the run's own estimate of its clusters, as in the verdict: ${formatShare(precision.value)} and ${formatShare(recall.value)}. Clustering left ${formatWhole(apart)} pairs above the cut apart and linked ${formatWhole(joined)} below it, and the estimate also counts matches that no rule brought together.`
}

export function renderUnlinkable({ unlinkable, counts, cut, scale }: ReportFacts): Markup {
  if (!unlinkable)
    return html`<p>The scores are a text similarity, which depends on all texts: no record has a best score by itself.</p>`
  const share = counts.records === 0 ? 0 : unlinkable.records / counts.records
  const [first, last] = [unlinkable.curve[0], unlinkable.curve.at(-1)]
  const text = html`<p>${`${formatWhole(unlinkable.records)} of ${formatWhole(counts.records)} records (${formatShare(share)}) have so few values that even an equal record would stay below the cut.`}</p>`
  if (!first || !last) return text
  return html`${text}${renderPlot({
    title: 'Records that cannot be linked, by threshold',
    description: 'Share of the records whose best possible score lies below each threshold.',
    x: { label: 'threshold: score in bits', from: Math.min(first[0], cut), to: Math.max(last[0], cut) },
    y: { label: 'records', to: 1, ticks: shareTicks },
    lines: [{ name: 'records', colour: 1, points: unlinkable.curve, isSteps: true }],
    marks: [{ at: cut, label: `cut ${formatScore(cut, scale)}` }],
  })}`
}

/** The value at a score: that of the first point at or above it. */
function interpolate(curve: ReportCurve, score: number): number {
  return (curve.find(([at]) => at >= score - 1e-9) ?? curve.at(-1))?.[1] ?? 0
}
