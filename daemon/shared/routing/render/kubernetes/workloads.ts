// The roles of this executable as objects of a cluster: a Service, pods and an autoscaler each, and the rights of the gateway.
import { describeObject, type KubernetesObject, type KubernetesOptions, selectPods } from './kubernetes-object.ts'
import {
  describeSet,
  hasOwnState,
  profile_folder,
  renderIdentityCopy,
  secretVolume,
  state_folder,
  stateClaim,
} from './separate-roles.ts'

/** A role that the site runs in the cluster. */
export type WorkloadRole = {
  readonly role: string
  readonly service: string
  /** Of the Service. */
  readonly port: number
  /** At which the process listens. */
  readonly container_port: number
  readonly hasTls: boolean
  /** Settings of the container, such as the address at which it listens. */
  readonly env: Readonly<Record<string, string>>
  /** Memory beside that of every role, in MiB. */
  readonly extra_memory_mb: number
  /** Maximum number of pods; with 1 there is no autoscaler. */
  readonly max_pods: number
  /** Roles share no folder: all but `site` have a claim of their own. */
  readonly isSeparate: boolean
}

export function renderWorkload(role: WorkloadRole, options: KubernetesOptions): readonly KubernetesObject[] {
  return [
    renderService(role.service, role.port, options, {
      name: role.service,
      appProtocol: role.hasTls ? 'https' : 'http',
    }),
    role.isSeparate && hasOwnState(role.role) ? renderStatefulSet(role, options) : renderDeployment(role, options),
    ...(role.max_pods > 1 ? [renderAutoscaler(role, options)] : []),
    ...(role.role === 'gateway' ? renderGatewayRights(role.service, options) : []),
  ]
}

/** Without a selector, and so without endpoints: the ingress controller answers 503. */
export function renderAbsentService(name: string, port: number, options: KubernetesOptions): KubernetesObject {
  return renderService(name, port, options, undefined)
}

function renderService(
  name: string,
  port: number,
  { namespace }: KubernetesOptions,
  pods: { readonly name: string; readonly appProtocol: string } | undefined,
): KubernetesObject {
  const target = pods ? { targetPort: 'http', appProtocol: pods.appProtocol } : {}
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: describeObject(namespace, name, name),
    spec: { ...(pods ? { selector: selectPods(pods.name) } : {}), ports: [{ name: 'http', port, ...target }] },
  }
}

/** Any number that is not root's and not one of the machine. */
const user_id = 10_001

function renderDeployment(role: WorkloadRole, { namespace, image }: KubernetesOptions): KubernetesObject {
  const labels = selectPods(role.service)
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: describeObject(namespace, role.service, role.service),
    spec: {
      // The autoscaler sets the number where there is one. Without it, two pods must never have the files of the role at once.
      ...(role.max_pods > 1 ? {} : { replicas: 1, strategy: { type: 'Recreate' } }),
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          ...renderPod(role, image),
          volumes: [
            profileVolume,
            { name: 'state', persistentVolumeClaim: { claimName: 'platform-state' } },
            temporaryVolume,
          ],
        },
      },
    },
  }
}

/** One pod: its audit chain is that of the role, and a second pod would write another one under the same name. */
function renderStatefulSet(role: WorkloadRole, { namespace, image }: KubernetesOptions): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: describeObject(namespace, role.service, role.service),
    spec: {
      ...describeSet(role.service),
      template: {
        metadata: { labels: selectPods(role.service) },
        spec: {
          ...renderPod(role, image),
          initContainers: [renderIdentityCopy(image, containerSecurity)],
          volumes: [profileVolume, secretVolume(role.role), temporaryVolume],
        },
      },
      volumeClaimTemplates: [stateClaim],
    },
  }
}

const profileVolume = { name: 'profile', configMap: { name: 'platform-profile' } }
const temporaryVolume = { name: 'tmp', emptyDir: {} }

function renderPod(role: WorkloadRole, image: string) {
  return {
    ...(role.role === 'gateway' ? { serviceAccountName: role.service } : { automountServiceAccountToken: false }),
    securityContext: {
      ...{ runAsNonRoot: true, runAsUser: user_id, runAsGroup: user_id, fsGroup: user_id },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [renderContainer(role, image)],
  }
}

const containerSecurity = {
  ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
  capabilities: { drop: ['ALL'] },
}

function renderContainer(role: WorkloadRole, image: string) {
  const env = Object.entries(role.env).map(([name, value]) => ({ name, value }))
  return {
    name: role.role,
    image,
    args: ['serve', role.role],
    ...(env.length > 0 ? { env } : {}),
    ports: [{ name: 'http', containerPort: role.container_port }],
    readinessProbe: { httpGet: { path: '/health', port: 'http', scheme: role.hasTls ? 'HTTPS' : 'HTTP' } },
    resources: sizeContainer(role.extra_memory_mb),
    securityContext: containerSecurity,
    volumeMounts: [
      { name: 'profile', mountPath: profile_folder, readOnly: true },
      { name: 'state', mountPath: state_folder },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  }
}

/** Document 000: CPU 500m to 2, memory 1 to 4 GB; the public proxy has its cache besides. */
function sizeContainer(extra_mb: number) {
  return {
    requests: { cpu: '500m', memory: `${1_024 + extra_mb}Mi` },
    limits: { cpu: '2', memory: `${4_096 + extra_mb}Mi` },
  }
}

/** Rate of the counter `http_requests_total`, under the name that the Prometheus adapter gives it by default. */
const request_rate_metric = 'http_requests'
const requests_per_second_and_pod = '100'

function renderAutoscaler({ service, max_pods }: WorkloadRole, { namespace }: KubernetesOptions): KubernetesObject {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: describeObject(namespace, service, service),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: service },
      minReplicas: 1,
      maxReplicas: max_pods,
      metrics: [
        {
          type: 'Pods',
          pods: {
            metric: { name: request_rate_metric },
            target: { type: 'AverageValue', averageValue: requests_per_second_and_pod },
          },
        },
      ],
    },
  }
}

/** Document 000: the gateway keeps the ingresses of registered services, and may do nothing else. */
function renderGatewayRights(service: string, { namespace }: KubernetesOptions): readonly KubernetesObject[] {
  const metadata = describeObject(namespace, service, service)
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata,
      rules: [
        {
          apiGroups: ['networking.k8s.io'],
          resources: ['ingresses'],
          verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
        },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: service },
      subjects: [{ kind: 'ServiceAccount', name: service, namespace }],
    },
  ]
}
