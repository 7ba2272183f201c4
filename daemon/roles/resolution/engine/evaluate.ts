// How well a clustering fits the truth: pairs, and what each record sees (B-cubed).

export type Quality = { readonly precision: number; readonly recall: number; readonly f1: number }

/** `found` and `truth` give each row's cluster. Pairs are all those within clusters; a measure of nothing is 0. */
export function pairQuality(found: Int32Array, truth: Int32Array): Quality {
  const pairs = (sizes: Iterable<number>) => [...sizes].reduce((sum, size) => sum + (size * (size - 1)) / 2, 0)
  const both = pairs(meetings(found, truth).values())
  return qualityOf(both / pairs(sizesOf(found).values()), both / pairs(sizesOf(truth).values()))
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

function qualityOf(precision: number, recall: number): Quality {
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
