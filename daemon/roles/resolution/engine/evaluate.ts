// Measures how well a clustering fits the truth: by pairs, by whole clusters, and by record (B-cubed).

export type PrecisionRecall = { readonly precision: number; readonly recall: number; readonly f1: number }

/**
 * `found` and `truth` give the cluster of each row. Counts all pairs within clusters, from the sizes of clusters and of
 * their overlaps; a ratio over nothing is 0. This is the pairwise F1 of entity-resolution benchmarks.
 */
export function measurePairs(found: Int32Array, truth: Int32Array): PrecisionRecall {
  let both = 0
  for (const count of countOverlaps(found, truth).values()) both += (count * (count - 1)) / 2
  return toPrecisionRecall(both / countTruePairs(found), both / countTruePairs(truth))
}

/** Bagga and Baldwin, "Algorithms for Scoring Coreference Chains", 1998. */
export function measureBCubed(found: Int32Array, truth: Int32Array): PrecisionRecall {
  const [foundSizes, truthSizes] = [countClusterSizes(found), countClusterSizes(truth)]
  let precision = 0
  let recall = 0
  for (const [key, count] of countOverlaps(found, truth)) {
    const [one, other] = key.split(' ')
    precision += (count * count) / foundSizes.get(Number(one))!
    recall += (count * count) / truthSizes.get(Number(other))!
  }
  return toPrecisionRecall(precision / found.length, recall / found.length)
}

/**
 * Clusters with exactly the records of a true cluster, single records included. "Cluster F1" in Menestrina, Whang and
 * Garcia-Molina, "Evaluating Entity Resolution Results", 2010.
 */
export function measureWholeClusters(found: Int32Array, truth: Int32Array): PrecisionRecall {
  const [foundSizes, truthSizes] = [countClusterSizes(found), countClusterSizes(truth)]
  let whole = 0
  for (const [key, count] of countOverlaps(found, truth)) {
    const [one, other] = key.split(' ')
    if (count === foundSizes.get(Number(one)) && count === truthSizes.get(Number(other))) whole++
  }
  return toPrecisionRecall(whole / foundSizes.size, whole / truthSizes.size)
}

/** Number of pairs of rows within the same cluster. */
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

function countOverlaps(found: Int32Array, truth: Int32Array): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [row, cluster] of found.entries()) {
    const key = `${cluster} ${truth[row]}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
