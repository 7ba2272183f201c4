// Describes a run and its results as prose; the same facts give the same text.
import { escapeLine } from '../../../kernel/text/escape-line.ts'
import { formatCount } from '../../../kernel/text/format-count.ts'
import type { ResultQuality } from '../fusion-run/result-quality.ts'
import { describeQuality } from './describe-quality.ts'

export type RunFacts = {
  readonly lens: string
  readonly lens_version: string
  readonly entity_type: string
  readonly state: string
  readonly route?: 'clusters' | 'links' | undefined
  readonly seed: number
  readonly sources: readonly { readonly name: string; readonly records?: number | undefined }[]
  readonly pairs?: number | undefined
  readonly matches?: number | undefined
  readonly entities?: number | undefined
  readonly clusters?: number | undefined
  readonly clustered?: number | undefined
  /** Number of clusters by their number of records, ascending, without clusters of one record. */
  readonly sizes: readonly { readonly size: number; readonly clusters: number }[]
  /** Number of matches by decision, and of open matches near even odds. */
  readonly confirmed: number
  readonly rejected: number
  readonly by_consensus: number
  readonly deferred: number
  readonly uncertain: number
  /** Bits of equal values of each field, strongest first. */
  readonly evidence: readonly { readonly field: string; readonly bits: number }[]
  readonly quality?: ResultQuality | undefined
  readonly warnings: readonly string[]
  readonly failure?: string | undefined
}

/** Writes paragraphs of complete sentences, separated by empty lines. */
export function narrateRun(facts: RunFacts): string {
  const parts = [
    describeInput(facts),
    describeResult(facts),
    describeEvidence(facts),
    facts.quality ? narrateQuality(facts.quality) : '',
    describeDecisions(facts),
    ...facts.warnings.map((warning) => `Warning: ${warning}.`),
  ]
  return `${parts
    .filter((part) => part !== '')
    .map(escapeLine)
    .join('\n\n')}\n`
}

function narrateQuality(quality: ResultQuality): string {
  const { verdict, route, prior, doubtful } = describeQuality(quality)
  const sentences = [
    `Estimated quality: ${verdict}`,
    `Method: ${route}`,
    prior,
    doubtful && `Look first at: ${doubtful}`,
  ]
  return sentences.flatMap((sentence) => (sentence === undefined ? [] : [`${upperFirst(sentence)}.`])).join(' ')
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function describeInput({ lens, lens_version, sources, state, seed, failure }: RunFacts): string {
  const isCounted = sources.every(({ records }) => records !== undefined)
  const records = sources.reduce((sum, source) => sum + (source.records ?? 0), 0)
  const names = sources.map((source) =>
    source.records === undefined ? source.name : `${source.name} (${source.records})`,
  )
  const from = sources.length === 1 ? `the source ${names[0]}` : `${sources.length} sources: ${joinList(names)}`
  const input = `The run applies the lens ${lens} ${lens_version} to ${isCounted ? `${formatCount(records, 'record', 'records')} of ` : ''}${from}.`
  const stateText =
    state === 'completed'
      ? `The run is completed; the same records, lens and seed (${seed}) give the same result.`
      : state === 'failed'
        ? `The run failed: ${failure ?? 'the reason is unknown'}.`
        : `The run is ${state}.`
  return `${input} ${stateText}`
}

function describeResult({
  pairs,
  clusters,
  clustered,
  entities,
  sizes,
  route,
  entity_type,
  ...facts
}: RunFacts): string {
  if (pairs === undefined) return ''
  const compared = `${formatCount(pairs, 'pair', 'pairs')} of records ${pairs === 1 ? 'was' : 'were'} compared.`
  if (entities === undefined || clusters === undefined) return compared
  const method = route === 'links' ? 'Each record has at most one match.' : 'Any number of records may be one entity.'
  const records = facts.sources.reduce((sum, source) => sum + (source.records ?? 0), 0)
  const single = Math.max(0, records - (clustered ?? 0))
  const result = `They form ${formatCount(entities, 'entity', 'entities')} of type ${entity_type}: ${formatCount(clusters, 'cluster', 'clusters')} with ${formatCount(clustered ?? 0, 'record', 'records')}, and ${formatCount(single, 'single record', 'single records')}.`
  return [compared, method, result, describeSizes(sizes)].filter((sentence) => sentence !== '').join(' ')
}

function describeSizes(sizes: RunFacts['sizes']): string {
  const largest = sizes.at(-1)
  if (!largest) return ''
  const most = sizes.slice(0, 3).map(({ size, clusters }) => `${clusters} of ${size}`)
  const rest = sizes.slice(3).reduce((sum, { clusters }) => sum + clusters, 0)
  const larger = rest > 0 ? `, ${rest} larger, the largest of ${largest.size}` : ''
  return `By size: ${joinList(most)}${larger}.`
}

function describeEvidence({ evidence }: RunFacts): string {
  if (evidence.length === 0) return ''
  const strongest = evidence.slice(0, 3).map(({ field, bits }) => `${field} (${bits.toFixed(1)} bits)`)
  return `Strongest evidence for a match, when equal: ${joinList(strongest)}.`
}

function describeDecisions({ confirmed, rejected, by_consensus, deferred, uncertain, matches }: RunFacts): string {
  if (matches === undefined) return ''
  const people = confirmed + rejected
  const decisions =
    people === 0 && by_consensus === 0
      ? 'No match has been decided yet.'
      : `People confirmed ${confirmed} and rejected ${rejected}, and consensus decided ${by_consensus}; these decisions override the scores.`
  const deferredText =
    deferred > 0 ? ` ${formatCount(deferred, 'match', 'matches')} ${deferred === 1 ? 'was' : 'were'} deferred.` : ''
  const open =
    uncertain === 0
      ? ' No open match is near even odds.'
      : ` ${formatCount(uncertain, 'open match', 'open matches')} ${uncertain === 1 ? 'is' : 'are'} near even odds and worth a review.`
  return `${formatCount(matches, 'match', 'matches')} ${matches === 1 ? 'is' : 'are'} stored. ${decisions}${deferredText}${open}`
}

function joinList(parts: readonly string[]): string {
  if (parts.length < 2) return parts[0] ?? ''
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
