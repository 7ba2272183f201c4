// Declares the gateway role, with which the services of the network register.
import { type Role, role } from '../../kernel/role/role.ts'
import { check } from './guardrail/check.ts'
import { list as guardrailList } from './guardrail/list.ts'
import { metrics } from './metrics.ts'
import { outline } from './outline.ts'

export const gateway: Role = role(outline, {
  collections: [],
  metrics,
  workers: [],
  operations: { guardrail: { list: guardrailList, check } },
  messages: {},
  serviceInfo: ({ deployment_profile, transports }) => ({
    name: 'gateway',
    description: 'Services of the network, and the routes to them',
    health_path: '/health',
    api_path: '/api/v2/gateway',
    capabilities: ['service-registry'],
    deployment_profile,
    supported_transports: [...transports],
  }),
})
