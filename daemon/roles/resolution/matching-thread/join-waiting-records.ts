// Joins waiting records in the thread: reads neighbours by query, and hands clusters and pairs over in pieces.
import { compareRecord } from '../engine/lookup/compare.ts'
import { listFoundBy } from '../engine/lookup/list-found-by.ts'
import type { ArrivalMatching, ComparedUids, JoinableRecord, ScoredRecordPair } from '../registry/arrival-scores.ts'
import { joinArrivals } from '../registry/join-arrivals.ts'
import type { JoinableRef } from './matching-jobs.ts'
import type { JobContext } from './perform-job.ts'

/** Records of one query, and pairs of one message: few enough for the event loop of the service. */
const max_queried = 50

/** How a pair was found that no longer shares a key. */
const formerPair = 'an earlier match'

export async function joinWaitingRecords(
  matching: ArrivalMatching,
  waiting: readonly JoinableRef[],
  context: JobContext,
): Promise<void> {
  const { lens, weights, index } = matching
  const { query, pause } = context
  // A record that the index lacks was written after it was refreshed, and waits for its own turn.
  const withValues = (refs: readonly JoinableRef[]): JoinableRecord[] =>
    refs.flatMap((ref) => {
      const values = index.valuesOf(ref.uid)
      return values ? [{ ...ref, values }] : []
    })
  const registered = {
    byUid: async (uids: readonly string[]) => withValues(await inPieces(uids, (some) => query('records_by_uid', some))),
    byBase: async (bases: readonly string[]) =>
      withValues(await inPieces(bases, (some) => query('records_by_base', some))),
  }
  const { clusters, pairs } = await joinArrivals(matching, registered, withValues(waiting), pause)
  await query(
    'take_clusters',
    clusters.map(({ base, members }) => ({ base, uids: members.map(({ uid }) => uid) })),
  )
  const takePairs = (some: readonly ScoredRecordPair[]) =>
    query(
      'take_pairs',
      some.map((pair) => toComparedUids(matching, pair)),
    )
  for (const some of cutPieces(pairs)) await takePairs(some)
  for (const some of cutPieces(await query('former_pairs', undefined))) {
    const rescored: ComparedUids[] = []
    for (const [left, right] of some) {
      const [leftValues, rightValues] = [index.valuesOf(left), index.valuesOf(right)]
      if (!leftValues || !rightValues) continue
      const [comparison] = compareRecord(lens, weights, index, leftValues, [rightValues])
      if (comparison) rescored.push({ left, right, comparison, found_by: [formerPair] })
      await pause()
    }
    await query('take_pairs', rescored)
  }
}

async function inPieces<T, R>(all: readonly T[], read: (some: readonly T[]) => Promise<readonly R[]>): Promise<R[]> {
  const results: R[] = []
  for (const some of cutPieces(all)) results.push(...(await read(some)))
  return results
}

function* cutPieces<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += max_queried) yield all.slice(at, at + max_queried)
}

function toComparedUids(matching: ArrivalMatching, { left, right, comparison }: ScoredRecordPair): ComparedUids {
  const found_by = listFoundBy(matching, left.values, right.values)
  return { left: left.uid, right: right.uid, comparison, found_by }
}
