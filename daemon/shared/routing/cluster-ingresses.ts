// Contract of the ingresses of a cluster that carry the mark of the gateway: seen as they are, and changed under the version that was seen.
import type { KubernetesObject } from './render/kubernetes/kubernetes-object.ts'

export type ObservedIngress = {
  readonly name: string
  readonly uid: string
  readonly resource_version: string
  /** Of what the gateway decides about it. */
  readonly sha256: string
  /** Its deletion has begun. */
  readonly isEnding: boolean
}

export type IngressView = {
  /** Those with the mark alone; undefined until they have been listed. */
  readonly ingresses: ReadonlyMap<string, ObservedIngress> | undefined
  /** Why they are not followed now: what is seen may be old. */
  readonly fault: string | undefined
  /** Another one after each change of the ingresses or the fault. */
  readonly revision: number
}

/**
 * `gone`, `changed`: another one was faster, and the view shows it soon. `foreign`: the name belongs to an ingress without the
 * mark. `refused`: the cluster does not allow or take it. `unavailable`: it may or may not have been made.
 */
export type IngressWrite =
  | { readonly outcome: 'written' | 'gone' | 'changed' }
  | { readonly outcome: 'foreign' | 'refused' | 'unavailable'; readonly reason: string }

export interface ClusterIngresses {
  view(): IngressView
  create(object: KubernetesObject, signal: AbortSignal): Promise<IngressWrite>
  patch(object: KubernetesObject, seen: ObservedIngress, signal: AbortSignal): Promise<IngressWrite>
  remove(seen: ObservedIngress, signal: AbortSignal): Promise<IngressWrite>
}
