// Routing that a site must not start with.
import { expect, test } from 'vitest'
import { roles } from '../../roles.ts'
import { resolveProfileSettings } from '../profile.ts'
import { findRoutingProblems } from './routing-problems.ts'

function problemsOf(deployment_profile: string, ingress: Record<string, unknown>, running = ['site', 'edge']) {
  const profile = { platform: { name: 'alpha', tenant_id: 'tenant-a', deployment_profile, roles: running }, ingress }
  return findRoutingProblems(resolveProfileSettings(roles, profile, {}, {}, '/', []), roles)
}

const at = (url: string) => ({ backends: { maps: [url] } })

test.each([
  ['classified_airgapped', 'http://10.1.0.4:8000', ['ingress.backends.maps']],
  ['coalition_federated', 'http://maps.example:8000', ['ingress.backends.maps']],
  ['classified_airgapped', 'https://10.1.0.4:8000', []],
  ['classified_airgapped', 'http://127.0.0.1:8000', []],
  ['classified_airgapped', 'http://[::1]:8000', []],
  ['single_cluster', 'http://10.1.0.4:8000', []],
])('in %s a process at %s: %j', (deployment_profile, url, paths) => {
  expect(problemsOf(deployment_profile, at(url)).map(({ path }) => path)).toEqual(paths)
})

test('a host of a service that has no process', () => {
  const pathsOf = (service: string) =>
    problemsOf('single_cluster', { ...at('http://10.1.0.4:8000'), hosts: { 'maps.example': service } }).map(
      ({ path }) => path,
    )
  expect([pathsOf('maps'), pathsOf('mops')]).toEqual([[], ['ingress.hosts.maps.example']])
})

test('a path of REST through a gateway that the site does not have', () => {
  const ingress = { rest_gateway: { enabled: true } }
  const paths = (running?: string[], more = {}) =>
    problemsOf('single_cluster', { ...ingress, ...more }, running).map(({ path }) => path)
  expect(paths()).toEqual(['ingress.rest_gateway.enabled'])
  expect(paths(['site', 'gateway', 'edge'])).toEqual([])
  expect(paths(undefined, { backends: { gateway: ['http://127.0.0.1:8001'] } })).toEqual([])
})
