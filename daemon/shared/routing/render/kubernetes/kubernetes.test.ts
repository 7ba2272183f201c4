// Objects of a cluster: what the documents fix for them.
import { describe, expect, test } from 'vitest'
import { clusterSites, kubernetesOptions } from '../../../../../test/support/engines/cluster-tables.ts'
import { renderKubernetes } from './kubernetes.ts'
import type { KubernetesObject } from './kubernetes-object.ts'

const objectsOf = (name: string): readonly KubernetesObject[] => {
  const site = clusterSites.find((each) => each.name === name)
  return site ? renderKubernetes(site.rules, site.roles, site.options) : []
}
const every = objectsOf('every service')
const throughGateway = objectsOf('the gateway in the path of REST, documents in files')
const find = (objects: readonly KubernetesObject[], kind: string, name: string) =>
  objects.find((each) => each.kind === kind && each.metadata.name === name)
const priorityOf = (object: KubernetesObject | undefined) =>
  object?.metadata.annotations?.[kubernetesOptions.priority_annotation]
const containerOf = (name: string) =>
  (find(every, 'Deployment', name) as { spec?: { template: { spec: { containers: unknown[] } } } })?.spec?.template.spec
    .containers[0]

describe('ingresses', () => {
  test('the tools have one rule of the gateway and one of intelligence, for their host alone', () => {
    const [gateway, fallback] = ['gateway-agentspace', 'intelligence-service-agentspace'].map((name) =>
      find(every, 'Ingress', name),
    )
    expect([priorityOf(gateway), priorityOf(fallback)]).toEqual(['100', '10'])
    expect(gateway?.spec).toMatchObject({ rules: [{ host: 'agentspace.cluster.local' }, {}] })
    expect(find(objectsOf('two roles'), 'Ingress', 'gateway-agentspace')).toBeUndefined()
  })

  test('the public prefix has an ingress without host, and stays out of the gateway', () => {
    for (const objects of [every, throughGateway]) {
      const ingress = find(objects, 'Ingress', 'public-proxy-rest')
      expect(priorityOf(ingress)).toBe('100')
      expect(ingress?.spec).toMatchObject({
        rules: [{ http: { paths: [{ path: '/public-api', pathType: 'Prefix' }] } }],
      })
      expect(JSON.stringify(ingress)).not.toContain('"host"')
    }
  })

  test('the gateway in the path of REST has them at 200, in an ingress that exists then alone', () => {
    expect(priorityOf(find(throughGateway, 'Ingress', 'gateway-rest-mode'))).toBe('200')
    expect(find(every, 'Ingress', 'gateway-rest-mode')).toBeUndefined()
  })

  test('a prefix below that of another service has a higher priority, for controllers that rank by it alone', () => {
    const [outer, inner] = ['consensus-service-rest', 'resolution-service-rest-nested-1'].map((name) =>
      find(every, 'Ingress', name),
    )
    expect([priorityOf(outer), priorityOf(inner)]).toEqual(['100', '101'])
    expect(JSON.stringify(outer)).toContain('"/api/v2/federation"')
    expect(inner?.spec).toMatchObject({ rules: [{ http: { paths: [{ path: '/api/v2/federation/resolution' }] } }] })
    expect(JSON.stringify(find(every, 'Ingress', 'resolution-service-rest'))).not.toContain('federation')
  })

  test('an absent service keeps its paths, and has a Service without pods', () => {
    const objects = objectsOf('two roles')
    expect(JSON.stringify(find(objects, 'Ingress', 'alerting-service-rest'))).toContain('/api/v1/sensor')
    expect(find(objects, 'Service', 'alerting-service')?.spec).toEqual({ ports: [{ name: 'http', port: 8_005 }] })
  })
})

describe('workloads', () => {
  test('CPU and memory are those of the document, and the public proxy has its cache besides', () => {
    expect(containerOf('consensus-service')).toMatchObject({
      resources: { requests: { cpu: '500m', memory: '1024Mi' }, limits: { cpu: '2', memory: '4096Mi' } },
    })
    expect(containerOf('public-proxy')).toMatchObject({
      resources: { requests: { memory: '1124Mi' }, limits: { memory: '4196Mi' } },
    })
  })

  test('pods grow with the rate of requests, where documents are not in files of the role', () => {
    expect(find(every, 'HorizontalPodAutoscaler', 'consensus-service')?.spec).toMatchObject({
      scaleTargetRef: { kind: 'Deployment', name: 'consensus-service' },
      metrics: [{ type: 'Pods', pods: { metric: { name: 'http_requests' } } }],
    })
    expect(throughGateway.filter(({ kind }) => kind === 'HorizontalPodAutoscaler')).toEqual([])
    expect(find(throughGateway, 'Deployment', 'consensus-service')?.spec).toMatchObject({
      ...{ replicas: 1, strategy: { type: 'Recreate' } },
    })
  })

  test('a service of other software brings its own objects', () => {
    expect(every.filter(({ metadata, kind }) => metadata.name === 'cost-lens-service' && kind !== 'Ingress')).toEqual(
      [],
    )
  })

  test('roles that share no folder have one pod and a claim each, and find the others at their Services over TLS', () => {
    const objects = objectsOf('roles that share no folder')
    const ingest = find(objects, 'StatefulSet', 'pipeline-service')
    expect(ingest?.spec).toMatchObject({
      ...{ replicas: 1, serviceName: 'pipeline-service', volumeClaimTemplates: [{ metadata: { name: 'state' } }] },
      template: {
        spec: {
          initContainers: [{ volumeMounts: [{ mountPath: '/etc/platform-role', readOnly: true }, {}] }],
          volumes: expect.arrayContaining([
            { name: 'identity', secret: { secretName: 'platform-role-ingest', defaultMode: 0o440 } },
          ]),
        },
      },
    })
    expect(JSON.stringify(ingest)).toContain('{"name":"INTELLIGENCE_URL","value":"https://intelligence-service:8002"}')
    expect(JSON.stringify(ingest)).toContain('\\"site\\":\\"https://site-service:8420\\"')
    expect(JSON.stringify(ingest)).not.toMatch(/public-proxy|pipeline-service:8008/)
    expect(find(objects, 'Deployment', 'site-service')?.spec).toMatchObject({ replicas: 1 })
    expect(objects.filter(({ kind }) => kind === 'HorizontalPodAutoscaler')).toEqual([])
  })
})
