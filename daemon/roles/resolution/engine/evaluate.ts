// How well a clustering fits the truth: pairs, whole clusters, and what each record sees (B-cubed).

export type Quality = { readonly precision: number; readonly recall: number; readonly f1: number }

/**
 * `found` and `truth` give each row's cluster. Pairs are all those within clusters, counted from the sizes of clusters and of
 * what they have in common; a measure of nothing is 0. What benchmarks of entity resolution call the F1 of a clustering.
 */
export function pairQuality(found: Int32Array, truth: Int32Array): Quality {
  let both = 0
  for (const count of meetings(found, truth).values()) both += (count * (count - 1)) / 2
  return qualityOf(both / truePairs(found), both / truePairs(truth))
}

/** Bagga and Baldwin, "Algorithms for Scoring Coreference Chains", 1998. */
export function bCubed(found: Int32Array, truth: Int32Array): Quality {
  const [foundSizes, truthSizes] = [sizesOf(found), sizesOf(truth)]
  let precision = 0
  let recall = 0
  for (const [key, count] of meetings(found, truth)) {
    const [one, other] = key.split(' ')
    precision += (count * count) / foundSizes.get(Number(one))!
    recall += (count * count) / truthSizes.get(Number(other))!
  }
  return qualityOf(precision / found.length, recall / found.length)
}

/**
 * Clusters that have exactly the records of a true one, single records among them. "Cluster F1" in Menestrina, Whang and
 * Garcia-Molina, "Evaluating Entity Resolution Results", 2010.
 */
export function wholeClusters(found: Int32Array, truth: Int32Array): Quality {
  const [foundSizes, truthSizes] = [sizesOf(found), sizesOf(truth)]
  let whole = 0
  for (const [key, count] of meetings(found, truth)) {
    const [one, other] = key.split(' ')
    if (count === foundSizes.get(Number(one)) && count === truthSizes.get(Number(other))) whole++
  }
  return qualityOf(whole / foundSizes.size, whole / truthSizes.size)
}

/** How many pairs of rows are one. */
export function truePairs(truth: Int32Array): number {
  return [...sizesOf(truth).values()].reduce((sum, size) => sum + (size * (size - 1)) / 2, 0)
}

export function qualityOf(precision: number, recall: number): Quality {
  const [p, r] = [precision || 0, recall || 0]
  return { precision: p, recall: r, f1: p + r === 0 ? 0 : (2 * p * r) / (p + r) }
}

function sizesOf(clusters: Int32Array): Map<number, number> {
  const sizes = new Map<number, number>()
  for (const cluster of clusters) sizes.set(cluster, (sizes.get(cluster) ?? 0) + 1)
  return sizes
}

function meetings(found: Int32Array, truth: Int32Array): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [row, cluster] of found.entries()) {
    const key = `${cluster} ${truth[row]}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
