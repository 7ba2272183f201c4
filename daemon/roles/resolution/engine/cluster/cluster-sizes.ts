// Sizes of clusters, by the row that names each cluster.

/** Counts the rows of each cluster; zero for a row that does not name a cluster. */
export function countClusterSizes(clusters: Int32Array): Int32Array {
  const sizes = new Int32Array(clusters.length)
  for (let row = 0; row < clusters.length; row++) sizes[clusters[row]!]!++
  return sizes
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
