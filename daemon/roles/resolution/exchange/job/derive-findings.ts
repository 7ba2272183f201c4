// Derives matches and clusters from what a party received. Checks it first: a peer or a linker may have sent impossible pairs.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { RunCluster, RunMatch } from '../../engine/findings.ts'
import type { RecordRef } from '../../fields.ts'
import { compareRefs, orderRefs } from '../../order-refs.ts'
import { buildRecordKeys } from '../../privacy/record-keys.ts'
import { pair_bytes, parseRows } from '../piece/cut-pieces.ts'
import type { ExchangeJobs, ReceivedMatches } from './exchange-jobs.ts'
import { buildLensRecords, type ExchangeRow } from './exchange-rows.ts'

type FindingsInput = ExchangeJobs['derive_findings'][0]
/** One entity: rows of this site, and the position that stands for the records of the other. */
type SharedEntity = { readonly rows: readonly number[]; readonly theirs: number; readonly score: number }

export type ExchangeFindings = { readonly matches: readonly RunMatch[]; readonly clusters: readonly RunCluster[] }

export function deriveFindings(input: FindingsInput): ExchangeFindings | Refusal {
  const { exchange_id, self, other, received, max_matches } = input
  const rows = parseRows(input.pieces)
  const shared = received.by === 'keys' ? matchSharedKeys(input, received, rows) : matchSimilarVectors(input, received)
  if (shared instanceof Error) return shared
  const count = shared.reduce((sum, each) => sum + each.rows.length, 0)
  if (count > max_matches)
    return refuse('too_large', `the exchange found ${count} matches, and a run may write ${max_matches}`)
  const ourRef = (row: number): RecordRef => ({ node_id: self, record_id: rows[row]?.[0] ?? '' })
  const theirRef = (place: number): RecordRef => ({ node_id: other, record_id: `${exchange_id}#${place}` })
  const matches = shared.flatMap((each) =>
    each.rows.map((row) => buildMatch(ourRef(row), theirRef(each.theirs), each.score)),
  )
  // The values of the other site's records are not known here: the registry holds their names alone.
  const clusters = buildClusters(shared).map(({ ours, theirs }) =>
    [...ours.map(ourRef), ...theirs.map(theirRef)]
      .sort((a, b) => compareRefs(a, b))
      .map((ref) => ({ ref, values: {} })),
  )
  return { matches, clusters }
}

function matchSharedKeys(
  { lens, fields, order }: FindingsInput,
  { other, positions: { ours, theirs } }: Extract<ReceivedMatches, { by: 'keys' }>,
  all: readonly ExchangeRow[],
): readonly SharedEntity[] | Refusal {
  const { rows } = buildRecordKeys(buildLensRecords(lens, fields, all), fields)
  const isAscending = theirs.every((place, at) => place >= 0 && (at === 0 || place > (theirs[at - 1] ?? 0)))
  if (!isAscending || ours.some((place) => place < 0 || place >= order.length))
    return refuse('invalid', `${other} sent positions of keys that do not exist`)
  return Array.from(theirs, (place, at) => ({ rows: rows[order[ours[at] ?? 0] ?? 0] ?? [], theirs: place, score: 1 }))
}

function matchSimilarVectors(
  { order }: FindingsInput,
  { linker, pairs: packed, isFirst, size_of_other, parameters }: Extract<ReceivedMatches, { by: 'vectors' }>,
): readonly SharedEntity[] | Refusal {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  const { threshold, one_to_one } = parameters
  const pairs: SharedEntity[] = []
  const seen = { ours: new Set<number>(), theirs: new Set<number>() }
  let last = -1
  for (let at = 0; at < bytes.length; at += pair_bytes) {
    const both = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]
    const [ours = 0, theirs = 0] = isFirst ? both : both.toReversed()
    const score = bytes.readDoubleLE(at + 8)
    // A linker writes pairs in ascending order, so that none occurs twice.
    const place = (both[0] ?? 0) * 2 ** 21 + (both[1] ?? 0)
    const isSound = ours < order.length && theirs < size_of_other && score >= threshold && score <= 1 && place > last
    const isTaken = one_to_one && (seen.ours.has(ours) || seen.theirs.has(theirs))
    if (!isSound || isTaken) return refuse('invalid', `${linker} sent an impossible pair`)
    last = place
    seen.ours.add(ours)
    seen.theirs.add(theirs)
    pairs.push({ rows: [order[ours] ?? 0], theirs, score })
  }
  return pairs
}

function buildMatch(one: RecordRef, other: RecordRef, score: number): RunMatch {
  const [left, right] = orderRefs(one, other)
  return { left, right, score, levels: [], linked: true, above: 1, left_size: 1, right_size: 1 }
}

/** Connected components. With one-to-one and with keys, each pair is a separate cluster. */
function buildClusters(
  shared: readonly SharedEntity[],
): readonly { readonly ours: number[]; readonly theirs: number[] }[] {
  const ofRow = new Map<number, { ours: number[]; theirs: number[] }>()
  const ofTheirs = new Map<number, { ours: number[]; theirs: number[] }>()
  const into = (target: { ours: number[]; theirs: number[] }, from: { ours: number[]; theirs: number[] }) => {
    if (target === from) return
    for (const row of from.ours) ofRow.set(row, target)
    for (const place of from.theirs) ofTheirs.set(place, target)
    target.ours.push(...from.ours.splice(0))
    target.theirs.push(...from.theirs.splice(0))
  }
  const all = new Set<{ ours: number[]; theirs: number[] }>()
  for (const { rows, theirs } of shared) {
    const cluster = ofTheirs.get(theirs) ?? { ours: [], theirs: [theirs] }
    ofTheirs.set(theirs, cluster)
    all.add(cluster)
    for (const row of rows) {
      const before = ofRow.get(row)
      if (before) into(cluster, before)
      else cluster.ours.push(row)
      ofRow.set(row, cluster)
    }
  }
  return [...all].filter(({ ours, theirs }) => ours.length + theirs.length > 1)
}
