// Joins the two clusters with the highest mean score over all their cross pairs, again and again, while that is above a cut.

/** Scores above the lowest one that counts; what is not listed has that lowest score. */
export type Links = { readonly lefts: ArrayLike<number>; readonly rights: ArrayLike<number>; readonly above: Float64Array }

type Offer = { readonly mean: number; readonly a: number; readonly b: number }

/**
 * The cluster of each of `rows` rows, as the lowest row in it. `links.above` holds scores less `lowest`, all above 0.
 * Of equal means that with the lower rows is joined first, so that the result depends on no order.
 */
export function averageLink(rows: number, links: Links, lowest: number, cut: number): Int32Array {
  const sums = new Map<number, Map<number, number>>()
  const offers = new Heap()
  const need = cut - lowest
  for (let at = 0; at < links.lefts.length; at++) {
    const [a, b, above] = [links.lefts[at]!, links.rights[at]!, links.above[at]!]
    sumsOf(sums, a).set(b, above)
    sumsOf(sums, b).set(a, above)
    if (above > need) offers.push({ mean: above, a: Math.min(a, b), b: Math.max(a, b) })
  }
  const sizes = new Int32Array(rows).fill(1)
  const parents = Int32Array.from({ length: rows }, (_, row) => row)
  for (let offer = offers.pop(); offer; offer = offers.pop()) {
    const { a, b, mean } = offer
    if (parents[a] !== a || parents[b] !== b) continue
    const now = (sums.get(a)?.get(b) ?? 0) / (sizes[a]! * sizes[b]!)
    if (now !== mean) continue
    parents[b] = a
    join(a, b, sums)
    sizes[a]! += sizes[b]!
    for (const [other, sum] of sums.get(a) ?? []) {
      const mean = sum / (sizes[a]! * sizes[other]!)
      if (mean > need) offers.push({ mean, a: Math.min(a, other), b: Math.max(a, other) })
    }
  }
  for (let row = 0; row < rows; row++) parents[row] = parents[parents[row]!]!
  for (let row = 0; row < rows; row++) while (parents[parents[row]!] !== parents[row]) parents[row] = parents[parents[row]!]!
  return parents
}

function sumsOf(sums: Map<number, Map<number, number>>, row: number): Map<number, number> {
  const known = sums.get(row)
  if (known) return known
  const made = new Map<number, number>()
  sums.set(row, made)
  return made
}

/** What was beside `b` is beside `a` now. */
function join(a: number, b: number, sums: Map<number, Map<number, number>>): void {
  const mine = sumsOf(sums, a)
  const theirs = sumsOf(sums, b)
  sums.delete(b)
  mine.delete(b)
  theirs.delete(a)
  for (const [other, sum] of theirs) {
    const both = sum + (mine.get(other) ?? 0)
    mine.set(other, both)
    const back = sumsOf(sums, other)
    back.delete(b)
    back.set(a, both)
  }
}

/** The best offer first: the highest mean, then the lowest rows. */
class Heap {
  readonly #offers: Offer[] = []

  push(offer: Offer): void {
    const offers = this.#offers
    let at = offers.push(offer) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBetter(offer, offers[parent]!)) break
      offers[at] = offers[parent]!
      at = parent
    }
    offers[at] = offer
  }

  pop(): Offer | undefined {
    const offers = this.#offers
    const best = offers[0]
    const last = offers.pop()
    if (!last || offers.length === 0) return best
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= offers.length) break
      if (child + 1 < offers.length && isBetter(offers[child + 1]!, offers[child]!)) child++
      if (!isBetter(offers[child]!, last)) break
      offers[at] = offers[child]!
      at = child
    }
    offers[at] = last
    return best
  }
}

function isBetter(one: Offer, other: Offer): boolean {
  if (one.mean !== other.mean) return one.mean > other.mean
  return one.a !== other.a ? one.a < other.a : one.b < other.b
}
