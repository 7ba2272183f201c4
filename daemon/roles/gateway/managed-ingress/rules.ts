// Which writes bring the ingresses of a cluster to those that the registry wants, and what is recorded of each.
import type { ObservedIngress } from '../../../shared/routing/cluster-ingresses.ts'
import type {
  ManagedIngress,
  ManagedIngressTarget,
} from '../../../shared/routing/render/kubernetes/managed-ingresses.ts'
import { managed_ingress_prefix } from '../../../shared/routing/routing-table.ts'
import type { StoredManagedIngress } from './model.ts'

export type IngressChange =
  | { readonly change: 'create'; readonly ingress: ManagedIngress; readonly target: ManagedIngressTarget }
  | {
      readonly change: 'patch'
      readonly ingress: ManagedIngress
      readonly target: ManagedIngressTarget
      readonly seen: ObservedIngress
    }
  | { readonly change: 'remove'; readonly seen: ObservedIngress }

/**
 * `observed`: those with the mark of this gateway. One with the mark and another prefix is left alone: both make it the
 * gateway's. One whose deletion has begun is left to end.
 */
export function planChanges(
  desired: readonly ManagedIngress[],
  observed: ReadonlyMap<string, ObservedIngress>,
): readonly IngressChange[] {
  const changes: IngressChange[] = []
  const kept = new Set<string>()
  for (const ingress of desired) {
    if (!('object' in ingress.target)) continue
    kept.add(ingress.name)
    const { target } = ingress
    const seen = observed.get(ingress.name)
    if (!seen) changes.push({ change: 'create', ingress, target })
    else if (!seen.isEnding && seen.sha256 !== target.sha256) changes.push({ change: 'patch', ingress, target, seen })
  }
  for (const seen of observed.values())
    if (!kept.has(seen.name) && !seen.isEnding && seen.name.startsWith(managed_ingress_prefix))
      changes.push({ change: 'remove', seen })
  return changes
}

export function nameOf(change: IngressChange): string {
  return change.change === 'remove' ? change.seen.name : change.ingress.name
}

export type IngressState = Pick<StoredManagedIngress, 'state' | 'reason'>

/** The record of an ingress in this state; its time counts from now where anything differs from before. */
export function recordIngress(
  { name, service, priority, paths, target }: ManagedIngress,
  { state, reason }: IngressState,
  before: StoredManagedIngress | undefined,
  { tenant_id, now }: { readonly tenant_id: string; readonly now: number },
): StoredManagedIngress {
  const written = state === 'written' && 'object' in target ? target.sha256 : before?.sha256
  return {
    ...{ tenant_id, name, service, state, priority, paths, changed_ts: now },
    ...(reason === undefined ? {} : { reason }),
    ...('object' in target ? { backend: target.backend } : {}),
    ...(written === undefined ? {} : { sha256: written }),
  }
}

/** Whether the record would say the same, whenever it was made. */
export function isSameRecord(one: StoredManagedIngress | undefined, other: StoredManagedIngress): boolean {
  const keys = ['state', 'reason', 'backend', 'priority', 'paths', 'sha256', 'service'] as const
  return one !== undefined && keys.every((key) => one[key] === other[key])
}

/** Whether the gateway has written exactly this before: somebody has edited or removed it since. */
export function isRepair(before: StoredManagedIngress | undefined, { sha256 }: ManagedIngressTarget): boolean {
  return before?.state === 'written' && before.sha256 === sha256
}
