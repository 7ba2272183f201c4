// Derives matches and clusters from the result that a party received, after a check: a peer or a linker may have sent
// impossible pairs.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { RunCluster, RunMatch } from '../../engine/findings.ts'
import type { RecordRef } from '../../fields.ts'
import { compareRefs, orderRefs } from '../../order-refs.ts'
import { buildRecordKeys } from '../../privacy/record-keys.ts'
import { pair_bytes, parseRows } from '../piece/cut-pieces.ts'
import type { ExchangeJobs, ReceivedMatches } from './exchange-jobs.ts'
import { buildLensRecords, type ExchangeRow } from './exchange-rows.ts'

type FindingsInput = ExchangeJobs['derive_findings'][0]
/** One entity: rows of this site, and the position that represents the records of the peer. */
type SharedEntity = { readonly rows: readonly number[]; readonly peerPosition: number; readonly score: number }
type ClusterMembers = { readonly rows: number[]; readonly peerPositions: number[] }

export type ExchangeFindings = { readonly matches: readonly RunMatch[]; readonly clusters: readonly RunCluster[] }

export function deriveFindings(input: FindingsInput): ExchangeFindings | Refusal {
  const { exchange_id, self, other, received, max_matches } = input
  const rows = parseRows(input.pieces)
  const found_by = received.by === 'keys' ? 'equal keys of the exchange' : 'similar encodings of the exchange'
  const shared = received.by === 'keys' ? matchSharedKeys(input, received, rows) : matchSimilarVectors(input, received)
  if (shared instanceof Error) return shared
  const count = shared.reduce((sum, { rows: entityRows }) => sum + entityRows.length, 0)
  if (count > max_matches)
    return refuse(
      'too_large',
      `the exchange found ${count} matches, and a run may write ${max_matches} (resolution.max_matches)`,
    )
  const ownRef = (row: number): RecordRef => ({ node_id: self, record_id: rows[row]?.[0] ?? '' })
  const peerRef = (position: number): RecordRef => ({ node_id: other, record_id: `${exchange_id}#${position}` })
  const matches = shared.flatMap((entity) =>
    entity.rows.map((row) => buildMatch(ownRef(row), peerRef(entity.peerPosition), entity.score, found_by)),
  )
  // This site does not have the values of the peer's records: the registry stores only references to them.
  const clusters = buildClusters(shared).map((members) =>
    [...members.rows.map(ownRef), ...members.peerPositions.map(peerRef)]
      .sort((a, b) => compareRefs(a, b))
      .map((ref) => ({ ref, values: {} })),
  )
  return { matches, clusters }
}

function matchSharedKeys(
  { lens, fields, order }: FindingsInput,
  { other, positions: { own, peer } }: Extract<ReceivedMatches, { by: 'keys' }>,
  ownRows: readonly ExchangeRow[],
): readonly SharedEntity[] | Refusal {
  const { rows } = buildRecordKeys(buildLensRecords(lens, fields, ownRows), fields)
  const isAscending = peer.every((position, at) => position >= 0 && (at === 0 || position > (peer[at - 1] ?? 0)))
  if (!isAscending || own.some((position) => position < 0 || position >= order.length))
    return refuse('invalid', `${other} sent positions of keys that do not exist`)
  return Array.from(peer, (peerPosition, at) => ({
    rows: rows[order[own[at] ?? 0] ?? 0] ?? [],
    peerPosition,
    score: 1,
  }))
}

function matchSimilarVectors(
  { order }: FindingsInput,
  { linker, pairs: packed, isFirst, size_of_other, parameters }: Extract<ReceivedMatches, { by: 'vectors' }>,
): readonly SharedEntity[] | Refusal {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  const { threshold, one_to_one } = parameters
  const pairs: SharedEntity[] = []
  const paired = { own: new Set<number>(), peer: new Set<number>() }
  let lastKey = -1
  for (let at = 0; at < bytes.length; at += pair_bytes) {
    const positions = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]
    const [own = 0, peer = 0] = isFirst ? positions : positions.toReversed()
    const score = bytes.readDoubleLE(at + 8)
    // A linker writes pairs in ascending order, so that none occurs twice.
    const pairKey = (positions[0] ?? 0) * 2 ** 21 + (positions[1] ?? 0)
    const isInRange = own < order.length && peer < size_of_other && score >= threshold && score <= 1
    const isRepeated = one_to_one && (paired.own.has(own) || paired.peer.has(peer))
    if (!isInRange || pairKey <= lastKey || isRepeated) return refuse('invalid', `${linker} sent an impossible pair`)
    lastKey = pairKey
    paired.own.add(own)
    paired.peer.add(peer)
    pairs.push({ rows: [order[own] ?? 0], peerPosition: peer, score })
  }
  return pairs
}

function buildMatch(own: RecordRef, peer: RecordRef, score: number, found_by: string): RunMatch {
  const [left, right] = orderRefs(own, peer)
  return { left, right, score, levels: [], found_by: [found_by], linked: true, above: 1, left_size: 1, right_size: 1 }
}

/** Builds connected components. With one-to-one and with keys, each pair is a separate cluster. */
function buildClusters(shared: readonly SharedEntity[]): readonly ClusterMembers[] {
  const clusterOfRow = new Map<number, ClusterMembers>()
  const clusterOfPeer = new Map<number, ClusterMembers>()
  const merge = (target: ClusterMembers, source: ClusterMembers) => {
    if (target === source) return
    for (const row of source.rows) clusterOfRow.set(row, target)
    for (const position of source.peerPositions) clusterOfPeer.set(position, target)
    target.rows.push(...source.rows.splice(0))
    target.peerPositions.push(...source.peerPositions.splice(0))
  }
  const clusters = new Set<ClusterMembers>()
  for (const { rows, peerPosition } of shared) {
    const cluster = clusterOfPeer.get(peerPosition) ?? { rows: [], peerPositions: [peerPosition] }
    clusterOfPeer.set(peerPosition, cluster)
    clusters.add(cluster)
    for (const row of rows) {
      const before = clusterOfRow.get(row)
      if (before) merge(cluster, before)
      else cluster.rows.push(row)
      clusterOfRow.set(row, cluster)
    }
  }
  return [...clusters].filter(({ rows, peerPositions }) => rows.length + peerPositions.length > 1)
}
