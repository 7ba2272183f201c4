// An object of a cluster, as plain data.

export type KubernetesObject = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMetadata
  readonly [field: string]: unknown
}

type ObjectMetadata = {
  readonly name: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

export type IngressOptions = {
  readonly namespace: string
  /** Undefined: that of the cluster. */
  readonly ingress_class: string | undefined
  /** Name of the annotation by which the ingress controller takes the priority of a rule. */
  readonly priority_annotation: string
}

export type KubernetesOptions = IngressOptions & {
  /** Of the containers. */
  readonly image: string
}

export function describeObject(namespace: string, name: string, service: string): ObjectMetadata {
  return { name, namespace, labels: { ...selectPods(service), 'app.kubernetes.io/part-of': 'platform' } }
}

export function selectPods(service: string): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/name': service }
}
