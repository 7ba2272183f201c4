// Declares the edge role: its listeners forward requests by the routing table of the site; it has no operations of its own.
import { memberStates } from '../../kernel/forward/member-health.ts'
import { type Role, role } from '../../kernel/role/role.ts'
import { backendCount, metrics } from './metrics.ts'
import { outline } from './outline.ts'
import { edgeBackendsPart } from './parts.ts'
import { followRegistry } from './workers/follow-registry.ts'

export const edge: Role = role(outline, {
  collections: [],
  metrics,
  workers: [followRegistry],
  operations: {},
  messages: {},
  serviceInfo: () => ({
    name: 'edge-service',
    description: 'Front door of the site: routes requests to the services that own their paths',
    health_path: '/health',
    api_path: '/api/v2/edge',
    mcp_path: null,
    capabilities: ['ingress'],
    objects: [],
  }),
  async gauges(call) {
    for (const [service, backends] of call.part(edgeBackendsPart).list())
      for (const state of memberStates)
        call.set(backendCount, { service, state }, backends.filter((each) => each.state === state).length)
  },
})
