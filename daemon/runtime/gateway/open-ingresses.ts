// Opens the cluster whose ingresses the gateway keeps; nothing of it is loaded where the profile has none.
import { setImmediate as pause } from 'node:timers/promises'
import { untrustedJsonReading } from '../../../adapters/serve/http/untrusted-json.ts'
import type { WireContext } from '../../boot/role-wire.ts'
import { openLeases } from '../../boot/storage/leases.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import type { Dependency } from '../../kernel/role/dependency.ts'
import { runInSlices } from '../../kernel/role/run-in-slices.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { releaseWritingLease } from '../../roles/gateway/managed-ingress/hold-writing-lease.ts'
import { type IngressKeeping, ingressKeepingPart } from '../../roles/gateway/managed-ingress/parts.ts'
import type { ClusterIngresses } from '../../shared/routing/cluster-ingresses.ts'
import { ingressSettings } from '../../shared/routing/ingress-settings.ts'
import {
  digestIngress,
  ingressMark,
  type ManagedIngressOptions,
} from '../../shared/routing/render/kubernetes/managed-ingresses.ts'
import { findPodAccess, readKubeconfig } from './cluster-access.ts'

/** Of one answer: a page of ingresses, each with thousands of paths. */
const max_values = 2_000_000

export type OpenedIngresses = {
  readonly part: readonly [string, IngressKeeping | undefined]
  readonly dependencies: readonly Dependency[]
  start(): Promise<void>
  stop(): Promise<void>
}

export function findIngressProblems(resolved: ResolvedSettings): ProfileProblem[] {
  const found = findAccess(resolved)
  if (found === undefined) return []
  if ('fault' in found) return [{ path: 'ingress.managed.kubeconfig_file', message: found.fault }]
  if (found.namespace !== undefined) return []
  return [{ path: 'ingress.managed.namespace', message: 'must be set: the kubeconfig names no namespace' }]
}

/** Undefined where the gateway writes no ingresses. */
function findAccess(resolved: ResolvedSettings) {
  const { managed_enabled, managed_kubeconfig_file, managed_namespace } = getSettings(resolved, ingressSettings)
  if (!managed_enabled) return undefined
  const found = managed_kubeconfig_file === undefined ? findPodAccess() : readKubeconfig(managed_kubeconfig_file)
  return 'fault' in found ? found : { ...found, namespace: managed_namespace ?? found.namespace }
}

export async function openIngresses({ resources, storage, role, log }: WireContext): Promise<OpenedIngresses> {
  const { resolved, site, clock, chance, random } = resources
  const access = findAccess(resolved)
  if (access === undefined || 'fault' in access || access.namespace === undefined) return closed
  const { class_name, priority_annotation, managed_cluster_domain } = getSettings(resolved, ingressSettings)
  const options: ManagedIngressOptions = {
    ...{ namespace: access.namespace, cluster_domain: managed_cluster_domain, site: site.name },
    ...{ ingress_class: class_name, priority_annotation },
  }
  const { KubernetesIngresses } = await import('../../../adapters/ingress/kubernetes/kubernetes-ingresses.ts')
  const cluster = new KubernetesIngresses({
    ...{ ...access, namespace: access.namespace, mark: ingressMark(site.name) },
    ...{ chance, monotonic: clock.monotonic },
    digest: (ingress) => digestIngress(ingress, options),
    async parse(bytes) {
      const value = await runInSlices({ monotonic: clock.monotonic, pause }, untrustedJsonReading(bytes, max_values))
      return isRefusal(value) ? undefined : value
    },
    onListed: (about) => log.info('gateway.cluster.listed', about),
  })
  const leases = openLeases({ ...resources, random }, storage, role)
  const progress: IngressKeeping['progress'] = {
    ...{ lease: undefined, records: undefined, desired: undefined, settled: undefined, fault: undefined },
    isEnding: false,
    retries: new Map(),
  }
  const keeping: IngressKeeping = { cluster, leases, options, progress }
  return {
    part: [ingressKeepingPart.name, keeping],
    dependencies: [describeCluster(cluster)],
    start: async () => cluster.start(),
    async stop() {
      await cluster.stop()
      // A store that does not answer now lets the lease run out.
      await releaseWritingLease(keeping).catch(() => undefined)
    },
  }
}

const closed: OpenedIngresses = {
  part: [ingressKeepingPart.name, undefined],
  dependencies: [],
  start: async () => undefined,
  stop: async () => undefined,
}

/** Services are reached by what is written already. */
function describeCluster(cluster: ClusterIngresses): Dependency {
  return {
    name: 'kubernetes',
    async probe() {
      const { ingresses, fault } = cluster.view()
      if (fault !== undefined) return { state: 'degraded', detail: fault }
      if (ingresses === undefined) return { state: 'degraded', detail: 'its ingresses are not listed yet' }
      return { state: 'ok', detail: `${ingresses.size} ingresses of the gateway` }
    },
  }
}
