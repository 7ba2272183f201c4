// Measures the quality of a clustering against the truth: by pairs, by whole clusters, and by record (B-cubed).

export type PrecisionRecall = { readonly precision: number; readonly recall: number; readonly f1: number }

/**
 * Measures pairs within clusters, from the sizes of clusters and of their overlaps; a ratio over nothing is 0. This is
 * the pairwise F1 of entity-resolution benchmarks. `clusters` and `truth`: the cluster of each row.
 */
export function measurePairs(clusters: Int32Array, truth: Int32Array): PrecisionRecall {
  let truePositives = 0
  for (const count of countOverlaps(clusters, truth).values()) truePositives += (count * (count - 1)) / 2
  return toPrecisionRecall(truePositives / countTruePairs(clusters), truePositives / countTruePairs(truth))
}

/** Measures B-cubed: Bagga and Baldwin, "Algorithms for Scoring Coreference Chains", 1998. */
export function measureBCubed(clusters: Int32Array, truth: Int32Array): PrecisionRecall {
  const [clusterSizes, truthSizes] = [countClusterSizes(clusters), countClusterSizes(truth)]
  let precision = 0
  let recall = 0
  for (const [key, count] of countOverlaps(clusters, truth)) {
    const [cluster, trueCluster] = key.split(' ')
    precision += (count * count) / clusterSizes.get(Number(cluster))!
    recall += (count * count) / truthSizes.get(Number(trueCluster))!
  }
  return toPrecisionRecall(precision / clusters.length, recall / clusters.length)
}

/**
 * Measures clusters with exactly the records of a true cluster, including single records. "Cluster F1" in Menestrina,
 * Whang and Garcia-Molina, "Evaluating Entity Resolution Results", 2010.
 */
export function measureWholeClusters(clusters: Int32Array, truth: Int32Array): PrecisionRecall {
  const [clusterSizes, truthSizes] = [countClusterSizes(clusters), countClusterSizes(truth)]
  let whole = 0
  for (const [key, count] of countOverlaps(clusters, truth)) {
    const [cluster, trueCluster] = key.split(' ')
    if (count === clusterSizes.get(Number(cluster)) && count === truthSizes.get(Number(trueCluster))) whole++
  }
  return toPrecisionRecall(whole / clusterSizes.size, whole / truthSizes.size)
}

/** Counts the pairs of rows within the same cluster. */
export function countTruePairs(truth: Int32Array): number {
  return [...countClusterSizes(truth).values()].reduce((sum, size) => sum + (size * (size - 1)) / 2, 0)
}

export function toPrecisionRecall(precision: number, recall: number): PrecisionRecall {
  const [p, r] = [precision || 0, recall || 0]
  return { precision: p, recall: r, f1: p + r === 0 ? 0 : (2 * p * r) / (p + r) }
}

function countClusterSizes(clusters: Int32Array): Map<number, number> {
  const sizes = new Map<number, number>()
  for (const cluster of clusters) sizes.set(cluster, (sizes.get(cluster) ?? 0) + 1)
  return sizes
}

function countOverlaps(clusters: Int32Array, truth: Int32Array): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [row, cluster] of clusters.entries()) {
    const key = `${cluster} ${truth[row]}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
