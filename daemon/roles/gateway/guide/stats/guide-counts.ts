// Counts of this process since its start, for the statistics of administrators: attachments by tenant and scope, and
// scores that were written.
import { part } from '../../../../kernel/role/part.ts'

export type AttachCounts = { success: number; readonly null: Map<string, number>; slowest_ms: number }

/** Names of tenants and scopes come from tokens and the registry: beyond this many together, nothing further is counted. */
const max_scopes = 10_000

export class GuideCounts {
  readonly #byTenant = new Map<string, Map<string, AttachCounts>>()
  #size = 0
  /** Of the evaluator, for all tenants together. */
  readonly scores = { persisted: 0, failed: 0 }

  /** `outcome`: attached, or the reason why nothing was. */
  addAttach(tenant_id: string, scope: string, outcome: string, took_ms: number): void {
    const counts = this.#countsOf(tenant_id, scope)
    if (!counts) return
    counts.slowest_ms = Math.max(counts.slowest_ms, took_ms)
    if (outcome === 'attached') counts.success += 1
    else counts.null.set(outcome, (counts.null.get(outcome) ?? 0) + 1)
  }

  /** By scope, in their order. */
  attachOf(tenant_id: string): readonly (readonly [scope: string, AttachCounts])[] {
    return [...(this.#byTenant.get(tenant_id) ?? [])].sort(([one], [other]) => (one < other ? -1 : 1))
  }

  #countsOf(tenant_id: string, scope: string): AttachCounts | undefined {
    const known = this.#byTenant.get(tenant_id)?.get(scope)
    if (known || this.#size >= max_scopes) return known
    this.#size += 1
    const counts = { success: 0, null: new Map<string, number>(), slowest_ms: 0 }
    this.#byTenant.set(tenant_id, (this.#byTenant.get(tenant_id) ?? new Map()).set(scope, counts))
    return counts
  }
}

export const guideCountsPart = part<GuideCounts>('guide-counts')
