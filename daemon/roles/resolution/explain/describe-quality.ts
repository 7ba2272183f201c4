// Says in words how sure a result is, why it took its route, and which clusters to look at.
import { min_precision, min_recall, type QualityEstimate, type ResultQuality } from '../fusion-run/result-quality.ts'

/** Fields whose mean weight is below it carried nothing. */
const min_carrying_bits = 0.5
const max_named_clusters = 3

export type QualityText = {
  readonly verdict: string
  /** Reasons of a poor verdict; empty for any other. */
  readonly faults: readonly string[]
  readonly route: string
  readonly prior: string | undefined
  readonly carried_by: string | undefined
  readonly doubtful: string | undefined
}

export function describeQuality(quality: ResultQuality): QualityText {
  return {
    verdict: describeVerdict(quality),
    faults: describeFaults(quality),
    route: routeReasons[quality.route_reason],
    prior:
      quality.prior &&
      `${formatShare(quality.prior.share)} of the compared pairs match, ${trainingTexts[quality.prior.learnt_from]}`,
    carried_by: quality.links > 0 ? describeFields(quality) : undefined,
    doubtful: describeDoubtful(quality.doubtful),
  }
}

function describeVerdict(quality: ResultQuality): string {
  const { verdict, precision, recall, links, sure_links } = quality
  if (!precision || !recall) return 'no two records are linked'
  const estimates = `about ${formatEstimate(precision)} of the matches found are right, and about ${formatEstimate(recall)} of all matches were found`
  const sure = `${sure_links} of ${links} are far above the cut`
  const labels = describeLabels(quality.by_labels)
  const sources = labels === undefined ? [estimates] : [labels, `without labels, ${estimates}`]
  return `${verdict}: ${[...sources, sure, ...describeFaults(quality)].join('; ')}`
}

function describeLabels(estimated: ResultQuality['by_labels']): string | undefined {
  if (!estimated) return undefined
  const { labels, precision, recall } = estimated
  if (!precision || !recall) return `${labels} labelled pairs were compared, too few to estimate by`
  return `by ${labels} labels, about ${formatEstimate(precision)} of the matches found are right, and about ${formatEstimate(recall)} of the matches among compared pairs were found`
}

function describeFaults(quality: ResultQuality): string[] {
  const { poor_in = [], by_labels } = quality
  const precision = by_labels?.precision ?? quality.precision
  const recall = by_labels?.recall ?? quality.recall
  const texts = {
    precision: `the estimated precision is ${precision?.value}, and at least ${min_precision} is needed`,
    recall: `the estimated recall is ${recall?.value}, and at least ${min_recall} is needed`,
    division: 'the fields do not tell entities apart: linked records share their cluster with a tenth of all records',
  }
  return poor_in.length === 0 ? [] : [...describeDifferingName(quality), ...poor_in.map((each) => texts[each])]
}

function describeDifferingName({ differing_name: differing, by_labels }: ResultQuality): string[] {
  if (!differing) return []
  const share = formatShare(differing.share)
  const remedy = by_labels ? 'train the lens with the labels' : 'label some pairs'
  return [
    `${share} of the linked pairs differ in ${differing.field}, as relatives or branches do (${remedy}, or leave the field out of the lens if it does not name the entity)`,
  ]
}

const routeReasons: Readonly<Record<ResultQuality['route_reason'], string>> = {
  lens: 'as the lens sets it by its threshold, its method or its weights',
  many_records: 'there are many records, so that those are compared which share a few telling values',
  clean_sources: 'neither of the two sources lists an entity twice, so each record has at most one match',
  large_entities: 'entities have many records, which support each other',
  small_entities: 'entities have few records, so each pair needs evidence of its own',
  single_matches: 'no record seems to have two matches, so each has at most one',
}

const trainingTexts: Readonly<Record<NonNullable<ResultQuality['prior']>['learnt_from'], string>> = {
  lens: 'set by the lens',
  candidates: 'learnt from each compared pair by itself',
  competition: 'learnt from the compared pairs of each record, of which one at most matches',
  clusters: 'learnt from the clusters of a first result',
}

function describeFields({ carried_by }: ResultQuality): string {
  const list = (found: typeof carried_by) => found.map(({ field, bits }) => `${field} (${bits.toFixed(1)} bits)`)
  const idle = carried_by.filter(({ bits }) => Math.abs(bits) < min_carrying_bits)
  const contrary = list(carried_by.filter(({ bits }) => bits <= -min_carrying_bits))
  const parts = list(carried_by.filter(({ bits }) => bits >= min_carrying_bits))
  if (idle.length > 0) parts.push(`little or nothing from ${idle.map(({ field }) => field).join(', ')}`)
  if (contrary.length > 0) parts.push(`against the links: ${contrary.join(', ')}`)
  return parts.join(', ')
}

const doubtTexts = { large: 'very large', sparse: 'most pairs without evidence', chained: 'two parts held by one pair' }

function describeDoubtful({ count, worst }: ResultQuality['doubtful']): string | undefined {
  if (count === 0) return undefined
  const named = worst.slice(0, max_named_clusters).map(({ cluster, size, doubts }) => {
    return `${cluster === undefined ? 'a cluster' : `cluster ${cluster}`} of ${size} records (${doubts.map((doubt) => doubtTexts[doubt]).join(', ')})`
  })
  const more = count > named.length ? [`${count - named.length} more`] : []
  return [...named, ...more].join('; ')
}

function formatEstimate({ value, low, high }: QualityEstimate): string {
  return `${formatShare(value)} (${formatShare(low)} to ${formatShare(high)})`
}

/** Near none and near all, a whole number would hide the difference. */
function formatShare(share: number): string {
  const percent = share * 100
  if (percent === 0 || percent === 100 || (percent >= 10 && percent < 99)) return `${Math.round(percent)} %`
  return `${Number(percent.toFixed(1))} %`
}
