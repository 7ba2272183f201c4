// Joins records that came since the run to what it had put together, and what they hold together with it: clusters of units.

/** A cluster of the run, which is never split, or one record that came since; by name. */
export type ClusterUnits = {
  /** In the order that settles what is equal. */
  readonly names: readonly string[]
}

/** `matchScore`: natural logs of odds of two records, the one of a unit that came since. */
export type UnitLink = { readonly one: string; readonly other: string; readonly score: number }

/** Whether two clusters of units may be one. */
export type JoinRule = (one: readonly string[], other: readonly string[]) => boolean

/**
 * By average link: the two with the highest mean are joined while it is above `need`, of equal ones those that come first. Only
 * what a free unit links is joined, so that the clusters of the run stay as they are but for what came. `mean`: of two units how
 * far all their pairs are above the lowest that counts, summed, and how many pairs that are.
 */
export function joinByAverageLink(
  { names }: ClusterUnits,
  links: readonly UnitLink[],
  mean: (one: string, other: string) => { readonly sum: number; readonly pairs: number },
  need: number,
  mayJoin: JoinRule,
): string[][] {
  const place = new Map(names.map((name, at) => [name, at]))
  const clusters = new Map(names.map((name) => [name, [name]]))
  const near = new Map<string, Set<string>>(names.map((name) => [name, new Set()]))
  for (const { one, other } of links) {
    near.get(one)?.add(other)
    near.get(other)?.add(one)
  }
  const meanOf = (one: string, other: string) => {
    const [mine, theirs] = [clusters.get(one) ?? [], clusters.get(other) ?? []]
    return mayJoin(mine, theirs) ? computeMean(mine, theirs, mean) : 0
  }
  for (
    let best = findBestPair(clusters, near, place, meanOf, need);
    best;
    best = findBestPair(clusters, near, place, meanOf, need)
  ) {
    const [kept, gone] = best
    clusters.set(kept, [...(clusters.get(kept) ?? []), ...(clusters.get(gone) ?? [])])
    clusters.delete(gone)
    for (const other of near.get(gone) ?? []) {
      near.get(other)?.delete(gone)
      if (other === kept) continue
      near.get(other)?.add(kept)
      near.get(kept)?.add(other)
    }
    near.delete(gone)
  }
  return [...clusters.values()]
}

function findBestPair(
  clusters: ReadonlyMap<string, readonly string[]>,
  near: ReadonlyMap<string, ReadonlySet<string>>,
  place: ReadonlyMap<string, number>,
  meanOf: (one: string, other: string) => number,
  need: number,
): readonly [string, string] | undefined {
  let best: readonly [string, string] | undefined
  let highest = need
  for (const one of clusters.keys()) {
    const others = [...(near.get(one) ?? [])].filter((other) => (place.get(one) ?? 0) < (place.get(other) ?? 0))
    others.sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0))
    for (const other of others) {
      const mean = meanOf(one, other)
      if (mean > highest) [best, highest] = [[one, other], mean]
    }
  }
  return best
}

function computeMean(
  one: readonly string[],
  other: readonly string[],
  mean: (one: string, other: string) => { readonly sum: number; readonly pairs: number },
): number {
  let [sum, pairs] = [0, 0]
  for (const mine of one) {
    for (const theirs of other) {
      const between = mean(mine, theirs)
      sum += between.sum
      pairs += between.pairs
    }
  }
  return pairs === 0 ? 0 : sum / pairs
}

/** The best link first, of equal ones the first, while the two clusters `mayJoin`. */
export function joinByBestLink(
  { names }: ClusterUnits,
  links: readonly UnitLink[],
  cut: number,
  mayJoin: JoinRule,
): string[][] {
  const place = new Map(names.map((name, at) => [name, at]))
  const placeOf = (name: string) => place.get(name) ?? 0
  const ordered = links
    .filter(({ score }) => score > cut)
    .map(({ one, other, score }) => ({ ends: placeOf(one) < placeOf(other) ? [one, other] : [other, one], score }))
    .map(({ ends: [one = '', other = ''], score }) => ({ one, other, score }))
  ordered.sort((a, b) => b.score - a.score || placeOf(a.one) - placeOf(b.one) || placeOf(a.other) - placeOf(b.other))
  const cluster = new Map(names.map((name) => [name, [name]]))
  for (const { one, other } of ordered) {
    const [mine, theirs] = [cluster.get(one), cluster.get(other)]
    if (!mine || !theirs || mine === theirs || !mayJoin(mine, theirs)) continue
    mine.push(...theirs)
    for (const name of theirs) cluster.set(name, mine)
  }
  return [...new Set(cluster.values())]
}
