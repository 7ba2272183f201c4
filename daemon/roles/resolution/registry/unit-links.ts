// Clusters units by their links. Units are clusters of the run, and single records that arrived since.

/** Names of units. A unit is a cluster of the run, which is never split, or one arrived record. */
export type ClusterUnits = {
  /** Names in the order that breaks ties. */
  readonly names: readonly string[]
}

/** A link between two units. `score`: natural log-odds of two records; the record of `from` arrived since the run. */
export type UnitLink = { readonly from: string; readonly to: string; readonly score: number }

/** Whether two clusters of units may be joined. */
export type JoinRule = (left: readonly string[], right: readonly string[]) => boolean

/**
 * Joins by average link: joins the two clusters with the highest mean while it is above `need`; ties go to the first
 * pair in order. Joins only along links of arrived records, so that clusters of the run otherwise stay unchanged.
 * `mean`: for two units, the sum of the heights of their pairs above the floor, and the number of pairs.
 */
export function joinByAverageLink(
  { names }: ClusterUnits,
  links: readonly UnitLink[],
  mean: (left: string, right: string) => { readonly sum: number; readonly pairs: number },
  need: number,
  mayJoin: JoinRule,
): string[][] {
  const orderOf = new Map(names.map((name, at) => [name, at]))
  const clusters = new Map(names.map((name) => [name, [name]]))
  const linked = new Map<string, Set<string>>(names.map((name) => [name, new Set()]))
  for (const { from, to } of links) {
    linked.get(from)?.add(to)
    linked.get(to)?.add(from)
  }
  const meanOf = (leftName: string, rightName: string) => {
    const [left, right] = [clusters.get(leftName) ?? [], clusters.get(rightName) ?? []]
    return mayJoin(left, right) ? computeMean(left, right, mean) : 0
  }
  for (
    let best = findBestPair(clusters, linked, orderOf, meanOf, need);
    best;
    best = findBestPair(clusters, linked, orderOf, meanOf, need)
  ) {
    const [target, joined] = best
    clusters.set(target, [...(clusters.get(target) ?? []), ...(clusters.get(joined) ?? [])])
    clusters.delete(joined)
    for (const other of linked.get(joined) ?? []) {
      linked.get(other)?.delete(joined)
      if (other === target) continue
      linked.get(other)?.add(target)
      linked.get(target)?.add(other)
    }
    linked.delete(joined)
  }
  return [...clusters.values()]
}

function findBestPair(
  clusters: ReadonlyMap<string, readonly string[]>,
  linked: ReadonlyMap<string, ReadonlySet<string>>,
  orderOf: ReadonlyMap<string, number>,
  meanOf: (left: string, right: string) => number,
  need: number,
): readonly [string, string] | undefined {
  let best: readonly [string, string] | undefined
  let highest = need
  for (const left of clusters.keys()) {
    const rights = [...(linked.get(left) ?? [])].filter((right) => (orderOf.get(left) ?? 0) < (orderOf.get(right) ?? 0))
    rights.sort((a, b) => (orderOf.get(a) ?? 0) - (orderOf.get(b) ?? 0))
    for (const right of rights) {
      const mean = meanOf(left, right)
      if (mean > highest) [best, highest] = [[left, right], mean]
    }
  }
  return best
}

function computeMean(
  left: readonly string[],
  right: readonly string[],
  mean: (left: string, right: string) => { readonly sum: number; readonly pairs: number },
): number {
  let [sum, pairs] = [0, 0]
  for (const leftUnit of left) {
    for (const rightUnit of right) {
      const unitMean = mean(leftUnit, rightUnit)
      sum += unitMean.sum
      pairs += unitMean.pairs
    }
  }
  return pairs === 0 ? 0 : sum / pairs
}

/**
 * Joins by best link: follows links above `cut` from the highest, ties in order, and joins clusters where `mayJoin`
 * allows it.
 */
export function joinByBestLink(
  { names }: ClusterUnits,
  links: readonly UnitLink[],
  cut: number,
  mayJoin: JoinRule,
): string[][] {
  const orderOf = new Map(names.map((name, at) => [name, at]))
  const rankOf = (name: string) => orderOf.get(name) ?? 0
  const ordered = links
    .filter(({ score }) => score > cut)
    .map(({ from, to, score }) =>
      rankOf(from) < rankOf(to) ? { left: from, right: to, score } : { left: to, right: from, score },
    )
  ordered.sort((a, b) => b.score - a.score || rankOf(a.left) - rankOf(b.left) || rankOf(a.right) - rankOf(b.right))
  const clusterOf = new Map(names.map((name) => [name, [name]]))
  for (const { left, right } of ordered) {
    const [target, joined] = [clusterOf.get(left), clusterOf.get(right)]
    if (!target || !joined || target === joined || !mayJoin(target, joined)) continue
    target.push(...joined)
    for (const name of joined) clusterOf.set(name, target)
  }
  return [...new Set(clusterOf.values())]
}
