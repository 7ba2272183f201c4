// Declares the gateway role, with which the services of the network register.
import { type Role, role } from '../../kernel/role/role.ts'
import { serviceStates } from '../../shared/service-registry/registered-service.ts'
import { check } from './guardrail/check.ts'
import { list as guardrailList } from './guardrail/list.ts'
import { metrics, serviceCount } from './metrics.ts'
import { objectClaims } from './object-claim/model.ts'
import { outline } from './outline.ts'
import { get } from './registered-service/get.ts'
import { list } from './registered-service/list.ts'
import { loadServices } from './registered-service/load-services.ts'
import { services } from './registered-service/model.ts'
import { remove } from './registered-service/remove.ts'
import { end } from './registration/end.ts'
import { register } from './registration/register.ts'
import { list as routeList } from './route/list.ts'
import { expire } from './workers/expire.ts'
import { followRegistry } from './workers/follow-registry.ts'
import { pull } from './workers/pull.ts'

export const gateway: Role = role(outline, {
  collections: [services, objectClaims],
  metrics,
  workers: [expire, pull, followRegistry],
  operations: {
    registration: { register, end },
    'registered-service': { list, get, remove },
    route: { list: routeList },
    guardrail: { list: guardrailList, check },
  },
  messages: {},
  serviceInfo: ({ deployment_profile, transports }) => ({
    name: 'gateway',
    description: 'Services of the network, and the routes to them',
    health_path: '/health',
    api_path: '/api/v2/gateway',
    capabilities: ['service-registry'],
    objects: ['register'],
    deployment_profile,
    supported_transports: [...transports],
  }),
  async gauges(call) {
    const all = await loadServices(call)
    for (const state of serviceStates)
      call.set(serviceCount, { state }, all.filter((service) => service.state === state).length)
  },
})
