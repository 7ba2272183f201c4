// A cluster with the rights that the chart gives the gateway, and sites whose gateway keeps ingresses there with its own account.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { StoredService } from '../../../daemon/roles/gateway/registered-service/model.ts'
import { renderKubernetes } from '../../../daemon/shared/routing/render/kubernetes/kubernetes.ts'
import type { ProfileSections } from '../site/test-site.ts'
import { type ClusterSite, clusterSites } from './cluster-tables.ts'
import { type KubeAnswer, type KubeApiserver, kubeApiserver } from './kube-apiserver.ts'

export const namespace = 'platform'
export const ingresses_path = `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`

export type IngressObject = {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly rules: readonly [
      {
        readonly http: {
          readonly paths: readonly {
            readonly path: string
            readonly backend: {
              readonly service: { readonly name: string; readonly port: { readonly number: number } }
            }
          }[]
        }
      },
    ]
  }
}

export type GatewayCluster = {
  readonly api: KubeApiserver
  /** Of the service account of the gateway. */
  readonly token: string
  /** Of the files that the kubeconfig names: `token` and `ca.crt`. */
  readonly folder: string
  /** Settings of a site whose gateway uses that account. */
  readonly ingress: Readonly<Record<string, unknown>>
  /** As the account of the gateway. */
  as(method: string, at: string, body?: unknown): Promise<KubeAnswer>
  list(): Promise<IngressObject[]>
  find(name: string): Promise<IngressObject | undefined>
  removeAll(): Promise<void>
  end(): Promise<void>
}

export async function gatewayCluster(): Promise<GatewayCluster> {
  const api = await kubeApiserver()
  const folder = mkdtempSync(path.join(tmpdir(), 'gateway-cluster-'))
  await post(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  for (const each of gatewayRights()) {
    const group = each.apiVersion.includes('/') ? `/apis/${each.apiVersion}` : `/api/${each.apiVersion}`
    await post(api, `${group}/namespaces/${namespace}/${each.kind.toLowerCase()}s`, each)
  }
  const token = await issueToken(api)
  writeFileSync(path.join(folder, 'token'), `${token}\n`)
  writeFileSync(path.join(folder, 'ca.crt'), api.ca)
  const kubeconfig = path.join(folder, 'kubeconfig.yaml')
  writeFileSync(kubeconfig, describeCluster(api.url))
  const list = async () => (await api.request('GET', ingresses_path)).body.items as IngressObject[]
  return {
    ...{ api, token, folder, list },
    ingress: { class_name: 'traefik', managed: { enabled: true, kubeconfig_file: kubeconfig } },
    as: (method, at, body) => api.request(method, at, body, token),
    find: async (name) => (await list()).find(({ metadata }) => metadata.name === name),
    async removeAll() {
      for (const { metadata } of await list()) await api.request('DELETE', `${ingresses_path}/${metadata.name}`)
    },
    async end() {
      await api.end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** As rendered for a cluster, and as the chart has them. */
function gatewayRights() {
  const { rules, roles, options } = clusterSites[0] as ClusterSite
  return renderKubernetes(rules, roles, options).filter(({ kind }) =>
    ['ServiceAccount', 'Role', 'RoleBinding'].includes(kind),
  )
}

async function issueToken(api: KubeApiserver): Promise<string> {
  const at = `/api/v1/namespaces/${namespace}/serviceaccounts/gateway/token`
  const { body } = await post(api, at, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} })
  return (body.status as { token: string }).token
}

async function post(api: KubeApiserver, at: string, body: unknown): Promise<KubeAnswer> {
  const answer = await api.request('POST', at, body)
  if (answer.status !== 201) throw new Error(`${at} was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer
}

/** With files for token and authorities, as those of a pod are. */
function describeCluster(url: string): string {
  return JSON.stringify({
    'current-context': 'gateway',
    contexts: [{ name: 'gateway', context: { cluster: 'test', user: 'gateway', namespace } }],
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority': 'ca.crt' } }],
    users: [{ name: 'gateway', user: { tokenFile: 'token' } }],
  })
}

/** For a cluster whose names this machine cannot resolve: as a registration would have left it. */
export function storedService(name: string, url: string, objects: readonly string[], ends_ts: number): StoredService {
  return {
    ...{ tenant_id: 'tenant-a', name, url, component_kind: 'library', source: 'push', state: 'live' },
    ...{ objects: [...objects], claiming: [], attempt: 'attempt', tools_count: 0, info_sha256: 'x', info_ts: 0 },
    ...{ ttl_s: 300, registered_by: `svc:${name}`, registered_ts: 0, ends_ts },
  }
}

export function gatewayProfile(cluster: GatewayCluster, more: Readonly<Record<string, unknown>> = {}): ProfileSections {
  return {
    platform: { roles: ['site', 'gateway'] },
    gateway: { port: 0 },
    ingress: { ...cluster.ingress, ...more },
  }
}
