// Sizes of clusters, by the row that names each cluster.

/** Counts the rows of each cluster; zero for a row that does not name a cluster. */
export function countClusterSizes(clusters: Int32Array): Int32Array {
  const sizes = new Int32Array(clusters.length)
  for (let row = 0; row < clusters.length; row++) sizes[clusters[row]!]!++
  return sizes
}
