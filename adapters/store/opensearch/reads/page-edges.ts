// Remembers where first pages of lists ended: a query limited to that edge costs the same however many documents lie beyond.
import { LRUCache } from 'lru-cache'
import { sha256 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { ListQuery, Scalar } from '../../../../daemon/kernel/store/store.ts'

const max_known_edges = 1_000

type PageEdge = { readonly first: Scalar; readonly last: Scalar }

/**
 * The cluster reads matching documents in the order of their writes, and skips those that sort behind the ones it has: with
 * the newest first none does, so that each page would read all. A page that is full within an edge is complete; another one
 * is queried again without an edge. So an edge that is wrong costs only time.
 */
export class PageEdges {
  readonly #known = new LRUCache<string, PageEdge>({ max: max_known_edges })

  /** The value up to which a page after this one (absent: the first page) is likely to reach. */
  findEdge(collection: string, query: ListQuery, after: Scalar | undefined): Scalar | undefined {
    const known = this.#known.get(edgeKey(collection, query))
    if (!known) return undefined
    const { first, last } = known
    const isFirst = after === undefined
    if (typeof first !== 'number' || typeof last !== 'number' || first === last) return isFirst ? last : undefined
    // As wide again, for what has gone meanwhile.
    const edge = Number(isFirst ? first : after) + 2 * (last - first)
    return Number.isFinite(edge) ? edge : undefined
  }

  /** Records the first and last value of a first page; nothing when it was also the last page. */
  record(collection: string, query: ListQuery, found: PageEdge | undefined): void {
    const key = edgeKey(collection, query)
    if (found) this.#known.set(key, found)
    else this.#known.delete(key)
  }
}

function edgeKey(collection: string, { filter, order, read_scope, limit }: ListQuery): string {
  return sha256(JSON.stringify([collection, filter, order, read_scope, limit]))
}
