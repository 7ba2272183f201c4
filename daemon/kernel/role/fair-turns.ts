// Fair turns: tenants in rotation, and the principals of each tenant in rotation.

/** The tenant and principal that work is done for. */
export type WorkOwner = { readonly tenant_id: string; readonly subject: string }

/** Owners remembered; one that was forgotten counts as never served. */
const max_owners = 10_000

/**
 * Chooses the next work: of the tenant served longest ago, then of its principal served longest ago, then the first in
 * order. So the amount of work that one tenant or principal has waiting does not delay another's first.
 */
export class FairTurns {
  /** The turn at which each tenant and principal was served last, longest ago first. */
  readonly #served = new Map<string, number>()
  #turn = 0

  /** Returns the next of `waiting` and counts its owner as served; undefined if nothing waits. */
  take<T>(waiting: Iterable<T>, ownerOf: (work: T) => WorkOwner): T | undefined {
    let next: { readonly work: T; readonly tenant: number; readonly principal: number } | undefined
    for (const work of waiting) {
      const [tenantKey, principalKey] = buildKeys(ownerOf(work))
      const [tenant, principal] = [this.#served.get(tenantKey) ?? 0, this.#served.get(principalKey) ?? 0]
      const isEarlier = !next || tenant < next.tenant || (tenant === next.tenant && principal < next.principal)
      if (isEarlier) next = { work, tenant, principal }
    }
    if (next) for (const key of buildKeys(ownerOf(next.work))) this.#count(key)
    return next?.work
  }

  #count(key: string): void {
    this.#served.delete(key)
    this.#served.set(key, ++this.#turn)
    if (this.#served.size <= max_owners) return
    for (const oldest of this.#served.keys()) {
      this.#served.delete(oldest)
      break
    }
  }
}

function buildKeys({ tenant_id, subject }: WorkOwner): [tenant: string, principal: string] {
  return [JSON.stringify([tenant_id]), JSON.stringify([tenant_id, subject])]
}
