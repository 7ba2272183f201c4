// A real API server of Kubernetes accepts every object that is rendered, and gives the gateway the rights that it needs and no others.
import { afterAll, beforeAll, expect, test as plainTest } from 'vitest'
import { renderKubernetes } from '../../../daemon/shared/routing/render/kubernetes/kubernetes.ts'
import type { KubernetesObject } from '../../../daemon/shared/routing/render/kubernetes/kubernetes-object.ts'
import { type ClusterSite, clusterSites } from '../../support/engines/cluster-tables.ts'
import { type KubeApiserver, kubeApiserver, kubeApiserverRequirement } from '../../support/engines/kube-apiserver.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const test = whenPresent(kubeApiserverRequirement, plainTest)

let cluster: KubeApiserver
beforeAll(async () => {
  if (!kubeApiserverRequirement.isPresent) return
  cluster = await kubeApiserver()
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'platform' } }
  expect(await cluster.request('POST', '/api/v1/namespaces', namespace)).toMatchObject({ status: 201 })
})
afterAll(() => cluster?.end())

const plurals: Readonly<Record<string, string>> = { Ingress: 'ingresses' }

function collectionOf({ apiVersion, kind, metadata }: KubernetesObject): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return `${group}/namespaces/${metadata.namespace}/${plurals[kind] ?? `${kind.toLowerCase()}s`}`
}

const render = ({ rules, roles, options }: ClusterSite) => renderKubernetes(rules, roles, options)
const strict = 'dryRun=All&fieldValidation=Strict'

test.each(clusterSites)('objects of $name are valid, without unknown fields', async (site) => {
  const objects = render(site)
  const answers: unknown[] = []
  for (const each of objects) {
    const { status, body } = await cluster.request('POST', `${collectionOf(each)}?${strict}`, each)
    if (status !== 201) answers.push([each.kind, each.metadata.name, status, body.message])
  }
  expect(answers).toEqual([])
  expect(new Set(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).size).toBe(objects.length)
})

test('the server would refuse an object that is not valid', async () => {
  const [first] = render(clusterSites[0] as ClusterSite).filter(({ kind }) => kind === 'Ingress')
  const invalid = { ...first, spec: { rules: [{ http: { paths: [{ path: 'x', pathType: 'Prefix' }] } }] } }
  const at = `${collectionOf(first as KubernetesObject)}?${strict}`
  expect(await cluster.request('POST', at, invalid)).toMatchObject({ status: 422 })
})

test('the account of the gateway keeps ingresses of its namespace, and sees nothing else', async () => {
  const objects = render(clusterSites[0] as ClusterSite)
  const rights = objects.filter(({ kind }) => ['ServiceAccount', 'Role', 'RoleBinding'].includes(kind))
  for (const each of rights)
    expect(await cluster.request('POST', collectionOf(each), each)).toMatchObject({ status: 201 })
  const account = '/api/v1/namespaces/platform/serviceaccounts/gateway/token'
  const issued = await cluster.request('POST', account, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  })
  const { token } = issued.body.status as { token: string }
  const [ingress] = objects.filter(({ kind }) => kind === 'Ingress') as [KubernetesObject]
  const ingresses = collectionOf(ingress)
  const managed = { ...ingress, metadata: { ...ingress.metadata, name: 'gateway-managed-weather-rest' } }
  const at = `${ingresses}/${managed.metadata.name}`
  const as = async (method: string, where: string, body?: unknown) =>
    (await cluster.request(method, where, body, token)).status
  expect(await as('POST', ingresses, managed)).toBe(201)
  expect(await as('PUT', at, managed)).toBe(200)
  expect([await as('GET', at), await as('GET', ingresses)]).toEqual([200, 200])
  expect(await as('DELETE', at)).toBe(200)
  for (const other of [
    '/api/v1/namespaces/platform/secrets',
    '/api/v1/namespaces/platform/services',
    ingresses.replace('/platform/', '/default/'),
  ])
    expect([other, await as('GET', other)]).toEqual([other, 403])
  expect(await as('DELETE', ingresses)).toBe(403)
})
