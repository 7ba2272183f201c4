// Sizes of clusters, by the row that names each cluster.

/** Counts the rows of each cluster; zero for a row that does not name a cluster. */
export function countClusterSizes(clusters: Int32Array): Int32Array {
  const sizes = new Int32Array(clusters.length)
  for (let row = 0; row < clusters.length; row++) sizes[clusters[row]!]!++
  return sizes
}

/** Counts the pairs of rows within each cluster; where `sources` is given, only pairs of different sources count. */
export function countPairsWithin(clusters: Int32Array, sources?: Int32Array): Float64Array {
  const sizes = countClusterSizes(clusters)
  const pairs = Float64Array.from(sizes, countPairs)
  if (!sources) return pairs
  const source_count = sources.reduce((most, source) => Math.max(most, source), 0) + 1
  // Records of one source and cluster so far; those without another in their cluster need no place.
  const rowsOf = new Map<number, number>()
  for (let row = 0; row < clusters.length; row++) {
    const cluster = clusters[row]!
    if (sizes[cluster]! < 2) continue
    const key = cluster * source_count + sources[row]!
    const earlier = rowsOf.get(key) ?? 0
    pairs[cluster]! -= earlier
    rowsOf.set(key, earlier + 1)
  }
  return pairs
}

/** Counts the pairs of a number of rows. */
export function countPairs(rows: number): number {
  return (rows * (rows - 1)) / 2
}

/** Computes the mean, over the records in clusters of two or more, of the size of their cluster. */
export function computeMeanSizeByRecord(clusters: Int32Array): number {
  let [records, sum] = [0, 0]
  for (const size of countClusterSizes(clusters)) {
    if (size < 2) continue
    records += size
    sum += size * size
  }
  return records === 0 ? 0 : sum / records
}
