// Clusters units by their links. Units are clusters of the run, and single records that arrived since.

/** Names of units. A unit is a cluster of the run, which is never split, or one arrived record. */
export type ClusterUnits = {
  /** Names in the order that breaks ties. */
  readonly names: readonly string[]
}

/** A link between two units. `score`: natural log-odds of two records; the record of `from` arrived since the run. */
export type UnitLink = { readonly from: string; readonly to: string; readonly score: number }

/** Lets other work continue; may throw to end this work. */
export type Pause = () => Promise<void>

/** Whether two clusters of units may be joined. */
export type JoinRule = (left: readonly string[], right: readonly string[]) => boolean

/**
 * Joins by average link: joins the two clusters with the highest mean while it is above `need`; ties go to the first
 * pair in order. Joins only along links of arrived records, so that clusters of the run otherwise stay unchanged.
 * `mean`: for two units, the sum of the heights of their pairs above the floor, and the number of pairs.
 */
export async function joinByAverageLink(
  { names }: ClusterUnits,
  links: readonly UnitLink[],
  mean: UnitMean,
  need: number,
  mayJoin: JoinRule,
  pause: Pause = async () => undefined,
): Promise<string[][]> {
  const clusters = new LinkedClusters(names, links, mean, mayJoin)
  for (const name of names) {
    await clusters.updatePartner(name)
    await pause()
  }
  for (let pair = clusters.findBestPair(need); pair; pair = clusters.findBestPair(need)) {
    for (const changed of clusters.join(...pair)) {
      await clusters.updatePartner(changed)
      await pause()
    }
  }
  return clusters.list()
}

type UnitMean = (left: string, right: string) => Promise<{ readonly sum: number; readonly pairs: number }>
type ClusterPartner = { readonly name: string; readonly mean: number }

/** Clusters by the name of their first unit, each with its best partner among the later ones that it is linked to. */
class LinkedClusters {
  readonly #units: Map<string, readonly string[]>
  readonly #linked: Map<string, Set<string>>
  readonly #partners = new Map<string, ClusterPartner>()
  readonly #orderOf: ReadonlyMap<string, number>
  readonly #mean: UnitMean
  readonly #mayJoin: JoinRule

  constructor(names: readonly string[], links: readonly UnitLink[], mean: UnitMean, mayJoin: JoinRule) {
    this.#units = new Map(names.map((name) => [name, [name]]))
    this.#linked = new Map(names.map((name) => [name, new Set()]))
    this.#orderOf = new Map(names.map((name, at) => [name, at]))
    this.#mean = mean
    this.#mayJoin = mayJoin
    for (const { from, to } of links) {
      this.#linked.get(from)?.add(to)
      this.#linked.get(to)?.add(from)
    }
  }

  list(): string[][] {
    return [...this.#units.values()].map((units) => [...units])
  }

  /** Finds the best partner of a cluster again. */
  async updatePartner(name: string): Promise<void> {
    this.#partners.delete(name)
    const units = this.#units.get(name)
    if (!units) return
    let best: ClusterPartner | undefined
    for (const other of this.#linked.get(name) ?? []) {
      const otherUnits = this.#units.get(other) ?? []
      if (this.#compareOrder(name, other) > 0 || !this.#mayJoin(units, otherUnits)) continue
      const mean = await computeMean(units, otherUnits, this.#mean)
      const isFirst = best !== undefined && mean === best.mean && this.#compareOrder(other, best.name) < 0
      if (!best || mean > best.mean || isFirst) best = { name: other, mean }
    }
    if (best) this.#partners.set(name, best)
  }

  findBestPair(need: number): readonly [string, string] | undefined {
    let best: readonly [string, string] | undefined
    let highest = need
    for (const name of this.#units.keys()) {
      const partner = this.#partners.get(name)
      if (partner && partner.mean > highest) [best, highest] = [[name, partner.name], partner.mean]
    }
    return best
  }

  /** Joins the second cluster to the first. Returns the clusters whose best partner may have changed. */
  join(target: string, joined: string): string[] {
    this.#units.set(target, [...(this.#units.get(target) ?? []), ...(this.#units.get(joined) ?? [])])
    this.#units.delete(joined)
    this.#partners.delete(joined)
    const linked = this.#linked.get(target) ?? new Set()
    for (const other of this.#linked.get(joined) ?? []) {
      this.#linked.get(other)?.delete(joined)
      if (other === target) continue
      this.#linked.get(other)?.add(target)
      linked.add(other)
    }
    this.#linked.delete(joined)
    return [target, ...linked]
  }

  #compareOrder(left: string, right: string): number {
    return (this.#orderOf.get(left) ?? 0) - (this.#orderOf.get(right) ?? 0)
  }
}

async function computeMean(left: readonly string[], right: readonly string[], mean: UnitMean): Promise<number> {
  let [sum, pairs] = [0, 0]
  for (const leftUnit of left) {
    for (const rightUnit of right) {
      const unitMean = await mean(leftUnit, rightUnit)
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
