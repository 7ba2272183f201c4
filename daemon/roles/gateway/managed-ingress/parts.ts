// The cluster whose ingresses the gateway keeps, the lease of the one process that writes them, and what that process has done.
import type { Lease, Leases } from '../../../kernel/job/lease.ts'
import { part } from '../../../kernel/role/part.ts'
import type { ClusterIngresses } from '../../../shared/routing/cluster-ingresses.ts'
import type {
  ManagedIngress,
  ManagedIngressOptions,
} from '../../../shared/routing/render/kubernetes/managed-ingresses.ts'
import type { StoredManagedIngress } from './model.ts'

export type IngressKeeping = {
  readonly cluster: ClusterIngresses
  readonly leases: Leases
  readonly options: ManagedIngressOptions
  readonly progress: IngressProgress
}

/** Of this process, by the clock that never jumps. */
export type IngressProgress = {
  lease: { readonly lease: Lease; renewed_ms: number } | undefined
  /** What is stored of each ingress; undefined until this process has the lease. */
  records: Map<string, StoredManagedIngress> | undefined
  /** `key`: of the registry from which they were computed. */
  desired: { readonly key: string; readonly ingresses: readonly ManagedIngress[] } | undefined
  /** The view and the desired ingresses for which nothing was left to do. */
  settled: { readonly revision: number; readonly key: string } | undefined
  /** When an ingress that was refused may be tried again. */
  readonly retries: Map<string, number>
  fault: string | undefined
  /** The process ends, and has given the lease back. */
  isEnding: boolean
}

/** Undefined where the gateway writes no ingresses. */
export const ingressKeepingPart = part<IngressKeeping | undefined>('ingress-keeping')
