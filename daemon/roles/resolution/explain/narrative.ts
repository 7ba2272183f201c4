// What a run did and found, told as prose: the same words for the same facts.

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
  /** Clusters by their number of records, those of one record left out; rising. */
  readonly sizes: readonly { readonly size: number; readonly clusters: number }[]
  /** How many matches are decided by whom, and how many are still open near even odds. */
  readonly confirmed: number
  readonly rejected: number
  readonly by_consensus: number
  readonly deferred: number
  readonly uncertain: number
  /** What speaks most for a match, strongest first: bits of equal values. */
  readonly evidence: readonly { readonly field: string; readonly bits: number }[]
  readonly warnings: readonly string[]
  readonly failure?: string | undefined
}

/** Paragraphs, each of whole sentences, parted by empty lines. */
export function narrateRun(facts: RunFacts): string {
  const parts = [
    describeInput(facts),
    describeResult(facts),
    describeEvidence(facts),
    describeDecisions(facts),
    ...facts.warnings.map((each) => `Warning: ${each}.`),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function describeInput({ lens, lens_version, sources, state, seed, failure }: RunFacts): string {
  const all = sources.every(({ records }) => records !== undefined)
  const records = sources.reduce((sum, source) => sum + (source.records ?? 0), 0)
  const named = sources.map(({ name, records: of }) => (of === undefined ? name : `${name} (${formatNumber(of)})`))
  const from = sources.length === 1 ? `the source ${named[0]}` : `${sources.length} sources: ${joinList(named)}`
  const said = `The lens ${lens} ${lens_version} looked at ${all ? `${formatCount(records, 'record')} of ` : ''}${from}.`
  const ended =
    state === 'completed'
      ? `The run is completed; the same records, lens and seed (${seed}) give the same result.`
      : state === 'failed'
        ? `The run failed: ${failure ?? 'the reason is not known'}.`
        : `The run is ${state}.`
  return `${said} ${ended}`
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
  const compared = `${formatCount(pairs, 'pair')} of records ${pairs === 1 ? 'was' : 'were'} compared.`
  if (entities === undefined || clusters === undefined) return compared
  const how =
    route === 'links'
      ? 'Both sources hold each thing once, so that each record has one partner at most.'
      : 'Any number of records may be one.'
  const records = facts.sources.reduce((sum, source) => sum + (source.records ?? 0), 0)
  const alone = Math.max(0, records - (clustered ?? 0))
  const result = `They make ${formatNumber(entities)} of the type ${entity_type}: ${formatCount(clusters, 'cluster')} with ${formatCount(clustered ?? 0, 'record')}, and ${formatCount(alone, 'record')} alone.`
  return [compared, how, result, describeSizes(sizes)].filter((each) => each !== '').join(' ')
}

function describeSizes(sizes: RunFacts['sizes']): string {
  const largest = sizes.at(-1)
  if (!largest) return ''
  const most = sizes.slice(0, 3).map(({ size, clusters }) => `${formatNumber(clusters)} of ${formatNumber(size)}`)
  const rest = sizes.slice(3).reduce((sum, { clusters }) => sum + clusters, 0)
  const larger = rest > 0 ? `, ${formatNumber(rest)} larger, the largest of ${formatNumber(largest.size)}` : ''
  return `By size: ${joinList(most)}${larger}.`
}

function describeEvidence({ evidence }: RunFacts): string {
  if (evidence.length === 0) return ''
  const strongest = evidence.slice(0, 3).map(({ field, bits }) => `${field} (${bits.toFixed(1)} bits)`)
  return `What speaks most for a match when it is equal: ${joinList(strongest)}.`
}

function describeDecisions({ confirmed, rejected, by_consensus, deferred, uncertain, matches }: RunFacts): string {
  if (matches === undefined) return ''
  const people = confirmed + rejected
  const said =
    people === 0 && by_consensus === 0
      ? 'Nobody has decided on a match yet.'
      : `People confirmed ${formatNumber(confirmed)} and rejected ${formatNumber(rejected)}, and consensus decided ${formatNumber(by_consensus)}; what they decided holds over the scores.`
  const later =
    deferred > 0 ? ` ${formatCount(deferred, 'match', 'matches')} ${deferred === 1 ? 'was' : 'were'} put off.` : ''
  const open =
    uncertain === 0
      ? ' No open match is near even odds.'
      : ` ${formatCount(uncertain, 'open match', 'open matches')} ${uncertain === 1 ? 'is' : 'are'} near even odds and worth a look.`
  return `${formatCount(matches, 'match', 'matches')} ${matches === 1 ? 'is' : 'are'} kept. ${said}${later}${open}`
}

function formatCount(count: number, one: string, more = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : more}`
}

function formatNumber(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

function joinList(parts: readonly string[]): string {
  if (parts.length < 2) return parts[0] ?? ''
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
