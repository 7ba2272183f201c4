// Collects the clusters of a run that a person should look at: the largest, and the most doubtful.
import type { ReportCluster, ReportFacts } from '../../../roles/resolution/report/report-facts.ts'
import type { FileRun } from '../folder/open-run.ts'
import { createOriginalReader } from '../folder/original-values.ts'
import { nameRecord } from './collect-pairs.ts'

const max_clusters = 6
const max_nodes = 40
const max_edges = 400

export type CollectedClusters = Pick<ReportFacts, 'sizes' | 'largest' | 'doubtful'>

/** The doubtful clusters are those that the quality names, then those whose pairs have the least evidence on average. The largest are others. */
export function collectClusters(run: FileRun): CollectedClusters {
  const sizes = countSizes(run.clusters)
  const several = [...sizes.keys()].filter((cluster) => (sizes[cluster] ?? 0) > 1)
  const named = run.summary.quality.doubtful.worst.flatMap(({ cluster }) =>
    cluster !== undefined && (sizes[cluster] ?? 0) > 1 ? [cluster] : [],
  )
  const heights = averageHeights(run, sizes.length)
  const weakest = several
    .filter((cluster) => !named.includes(cluster))
    .sort((a, b) => (heights[a] ?? 0) - (heights[b] ?? 0) || a - b)
  const doubtful = [...named, ...weakest].slice(0, max_clusters)
  const largest = several
    .filter((cluster) => !doubtful.includes(cluster))
    .sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0) || a - b)
    .slice(0, max_clusters)
  const counts = new Map<number, number>()
  for (const cluster of several) counts.set(sizes[cluster] ?? 0, (counts.get(sizes[cluster] ?? 0) ?? 0) + 1)
  const single = sizes.reduce((sum, size) => sum + (size === 1 ? 1 : 0), 0)
  const distribution = [...counts].sort(([a], [b]) => a - b).map(([size, clusters]) => ({ size, clusters }))
  const build = createClusterBuilder(run, sizes, new Set([...largest, ...doubtful]))
  return {
    sizes: [...(single > 0 ? [{ size: 1, clusters: single }] : []), ...distribution],
    largest: largest.map(build),
    doubtful: doubtful.map(build),
  }
}

/** Number of records by the number of their cluster, which begin at 1. */
function countSizes(clusters: Int32Array): Int32Array {
  const sizes = new Int32Array(clusters.reduce((most, cluster) => Math.max(most, cluster), 0) + 1)
  for (const cluster of clusters) sizes[cluster] = (sizes[cluster] ?? 0) + 1
  return sizes
}

/** Mean score of the linked pairs of each cluster; a pair that was not compared counts as at the floor. */
function averageHeights({ clusters, pairs, model }: FileRun, count: number): Float64Array {
  const { floor } = model
  const sizes = countSizes(clusters)
  const sums = new Float64Array(count)
  for (let pair = 0; pair < pairs.length; pair++) {
    const cluster = clusters[pairs.lefts[pair] ?? 0] ?? 0
    if (cluster === clusters[pairs.rights[pair] ?? 0])
      sums[cluster] = (sums[cluster] ?? 0) + (pairs.scores[pair] ?? 0) - floor
  }
  return sums.map((sum, cluster) => {
    const size = sizes[cluster] ?? 0
    return size < 2 ? 0 : sum / ((size * (size - 1)) / 2)
  })
}

/** Reads records and pairs once for all clusters. */
function createClusterBuilder(run: FileRun, sizes: Int32Array, wanted: ReadonlySet<number>) {
  const { clusters, pairs, model, records, sources, summary } = run
  const original = createOriginalReader(model.lens, records, sources)
  const members = new Map<number, number[]>([...wanted].map((cluster) => [cluster, []]))
  const places = new Map<number, number>()
  for (const [row, cluster] of clusters.entries()) {
    const rows = members.get(cluster)
    if (!rows || rows.length >= max_nodes) continue
    places.set(row, rows.length)
    rows.push(row)
  }
  const edges = new Map<number, { from: number; to: number; height: number }[]>()
  for (let pair = 0; pair < pairs.length; pair++) {
    const [left, right] = [pairs.lefts[pair] ?? 0, pairs.rights[pair] ?? 0]
    const [from, to, cluster] = [places.get(left), places.get(right), clusters[left] ?? 0]
    if (from === undefined || to === undefined || cluster !== clusters[right]) continue
    const list = edges.get(cluster) ?? []
    edges.set(cluster, list)
    list.push({ from, to, height: (pairs.scores[pair] ?? 0) - model.cut })
  }
  return (cluster: number): ReportCluster => ({
    number: cluster,
    size: sizes[cluster] ?? 0,
    doubts: summary.quality.doubtful.worst.find((each) => each.cluster === cluster)?.doubts ?? [],
    nodes: (members.get(cluster) ?? []).map((row) => ({
      ...nameRecord(run, row),
      values: records.fields.map((_, field) => original(row, field)),
    })),
    edges: (edges.get(cluster) ?? []).toSorted((a, b) => b.height - a.height).slice(0, max_edges),
  })
}
