// What a party learns of what it was told, as matches and clusters; a peer or a linker may have told of what cannot be.
import { type Refused, refuse } from '../../../kernel/errors.ts'
import { inOrder } from '../entity-match/order.ts'
import type { RecordRef } from '../fields.ts'
import type { FoundCluster, FoundMatch } from '../parts.ts'
import { recordKeys } from '../privacy/record-keys.ts'
import { pair_bytes, rowsIn } from './cutting.ts'
import type { Deeds, Told } from './deeds.ts'
import { type Row, seenRows } from './rows.ts'

type Given = Deeds['learn'][0]
/** Of one entity: rows of this site, and what stands for the records of the other. */
type Shared = { readonly rows: readonly number[]; readonly theirs: number; readonly score: number }

export type Findings = { readonly matches: readonly FoundMatch[]; readonly clusters: readonly FoundCluster[] }

export function learntOf(given: Given): Findings | Refused {
  const { exchange_id, self, other, told, max_matches } = given
  const rows = rowsIn(given.pieces)
  const shared = told.by === 'keys' ? sharedKeys(given, told, rows) : alikeVectors(given, told)
  if (shared instanceof Error) return shared
  const count = shared.reduce((sum, each) => sum + each.rows.length, 0)
  if (count > max_matches) return refuse('too_large', `there are ${count} matches, and a run may write ${max_matches}`)
  const ourRef = (row: number): RecordRef => ({ node_id: self, record_id: rows[row]?.[0] ?? '' })
  const theirRef = (place: number): RecordRef => ({ node_id: other, record_id: `${exchange_id}#${place}` })
  const matches = shared.flatMap((each) =>
    each.rows.map((row) => matchOf(ourRef(row), theirRef(each.theirs), each.score)),
  )
  // What their records say is not known here; the registry has them by name alone.
  const clusters = clustersOf(shared).map(({ ours, theirs }) =>
    [...ours.map(ourRef), ...theirs.map(theirRef)]
      .sort((a, b) => (inOrder(a, b)[0] === a ? -1 : 1))
      .map((ref) => ({ ref, values: {} })),
  )
  return { matches, clusters }
}

function sharedKeys(
  { lens, fields, order }: Given,
  { other, met: { ours, theirs } }: Extract<Told, { by: 'keys' }>,
  all: readonly Row[],
): readonly Shared[] | Refused {
  const { rows } = recordKeys(seenRows(lens, fields, all), fields)
  const isAscending = theirs.every((place, at) => place >= 0 && (at === 0 || place > (theirs[at - 1] ?? 0)))
  if (!isAscending || ours.some((place) => place < 0 || place >= order.length))
    return refuse('invalid', `${other} told of keys that there are none of`)
  return Array.from(theirs, (place, at) => ({ rows: rows[order[ours[at] ?? 0] ?? 0] ?? [], theirs: place, score: 1 }))
}

function alikeVectors(
  { order }: Given,
  { linker, pairs: told, isFirst, size_of_other, parameters }: Extract<Told, { by: 'vectors' }>,
): readonly Shared[] | Refused {
  const bytes = Buffer.from(told.buffer, told.byteOffset, told.byteLength)
  const { threshold, one_to_one } = parameters
  const pairs: Shared[] = []
  const seen = { ours: new Set<number>(), theirs: new Set<number>() }
  let last = -1
  for (let at = 0; at < bytes.length; at += pair_bytes) {
    const both = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]
    const [ours = 0, theirs = 0] = isFirst ? both : both.toReversed()
    const score = bytes.readDoubleLE(at + 8)
    // As a linker writes them: ascending, so that none is there twice.
    const place = (both[0] ?? 0) * 2 ** 21 + (both[1] ?? 0)
    const isSound = ours < order.length && theirs < size_of_other && score >= threshold && score <= 1 && place > last
    const isTaken = one_to_one && (seen.ours.has(ours) || seen.theirs.has(theirs))
    if (!isSound || isTaken) return refuse('invalid', `${linker} told of a pair that cannot be`)
    last = place
    seen.ours.add(ours)
    seen.theirs.add(theirs)
    pairs.push({ rows: [order[ours] ?? 0], theirs, score })
  }
  return pairs
}

function matchOf(one: RecordRef, other: RecordRef, score: number): FoundMatch {
  const [left, right] = inOrder(one, other)
  return { left, right, score, levels: [], linked: true, above: 1, left_size: 1, right_size: 1 }
}

/** Connected: with one-to-one, and with keys, every pair is a cluster of its own. */
function clustersOf(shared: readonly Shared[]): readonly { readonly ours: number[]; readonly theirs: number[] }[] {
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
