// Clusters units by their links: clusters of the run, and single records that arrived since.

/** Names of units. A unit is a cluster of the run, which is never split, or one arrived record. */
export type ClusterUnits = {
  /** In the order that breaks ties. */
  readonly names: readonly string[]
}

/** `score`: log-odds (natural) of two records, of which that of `one` arrived since the run. */
export type UnitLink = { readonly one: string; readonly other: string; readonly score: number }

/** Whether two clusters of units may be joined. */
export type JoinRule = (one: readonly string[], other: readonly string[]) => boolean

/**
 * Average link: joins the two clusters with the highest mean while it is above `need`; ties go to those that come
 * first. Joins only along links of arrived records, so that clusters of the run otherwise stay as they are. `mean`: for
 * two units, the sum of how far their pairs are above the floor, and the number of pairs.
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
    const [target, joined] = best
    clusters.set(target, [...(clusters.get(target) ?? []), ...(clusters.get(joined) ?? [])])
    clusters.delete(joined)
    for (const other of near.get(joined) ?? []) {
      near.get(other)?.delete(joined)
      if (other === target) continue
      near.get(other)?.add(target)
      near.get(target)?.add(other)
    }
    near.delete(joined)
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

/**
 * Best link: follows links above `cut` from the highest, ties in order, and joins two clusters where `mayJoin` allows
 * it.
 */
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
