// Declares the gateway role, with which the services of the network register.
import { jobLeases } from '../../kernel/job/lease.ts'
import { type Role, role } from '../../kernel/role/role.ts'
import { ingressSettings } from '../../shared/routing/ingress-settings.ts'
import { serviceStates } from '../../shared/service-registry/registered-service.ts'
import { chatTraces, conversations } from './chat/model.ts'
import { send } from './chat/send.ts'
import { chatFeedback } from './chat-feedback/model.ts'
import { record } from './chat-feedback/record.ts'
import { list as conversationList } from './conversation/list.ts'
import { remove as removeConversation } from './conversation/remove.ts'
import { check } from './guardrail/check.ts'
import { list as guardrailList } from './guardrail/list.ts'
import {
  countGuideFromZero,
  guideCollections,
  guideMetrics,
  guideOperations,
  guideWorkers,
} from './guide/declaration.ts'
import { list as ingressList } from './managed-ingress/list.ts'
import { managedIngresses, managedIngressStates } from './managed-ingress/model.ts'
import { chatTurnTotal, ingressWriteTotal, managedIngressCount, metrics, serviceCount } from './metrics.ts'
import { objectClaims } from './object-claim/model.ts'
import { outline } from './outline.ts'
import { list as quotaList } from './quota/list.ts'
import { callUsages } from './quota/model.ts'
import { get } from './registered-service/get.ts'
import { list } from './registered-service/list.ts'
import { loadServices } from './registered-service/load-services.ts'
import { services } from './registered-service/model.ts'
import { remove } from './registered-service/remove.ts'
import { end } from './registration/end.ts'
import { register } from './registration/register.ts'
import { list as routeList } from './route/list.ts'
import { accept } from './service-tool/accept.ts'
import { list as toolList } from './service-tool/list.ts'
import { acceptedTools, toolApprovals } from './service-tool/model.ts'
import { review } from './service-tool/review.ts'
import { withdraw } from './service-tool/withdraw.ts'
import { expire } from './workers/expire.ts'
import { followRegistry } from './workers/follow-registry.ts'
import { followTools } from './workers/follow-tools.ts'
import { keepIngresses } from './workers/keep-ingresses.ts'
import { keepStdioServers } from './workers/keep-stdio-servers.ts'
import { keepUsage } from './workers/keep-usage.ts'
import { pull } from './workers/pull.ts'

export const gateway: Role = role(outline, {
  collections: [
    ...[services, objectClaims, toolApprovals, acceptedTools, managedIngresses, jobLeases, callUsages],
    ...[conversations, chatTraces, chatFeedback],
    ...guideCollections,
  ],
  metrics: [...metrics, ...guideMetrics],
  workers: [
    ...[expire, pull, followRegistry, followTools, keepIngresses, keepStdioServers, keepUsage],
    ...guideWorkers,
  ],
  operations: {
    registration: { register, end },
    'registered-service': { list, get, remove },
    route: { list: routeList },
    'managed-ingress': { list: ingressList },
    guardrail: { list: guardrailList, check },
    quota: { list: quotaList },
    'service-tool': { list: toolList, review, accept, withdraw },
    chat: { send },
    conversation: { list: conversationList, remove: removeConversation },
    'chat-feedback': { record },
    ...guideOperations,
  },
  messages: {},
  serviceInfo: ({ deployment_profile, transports }) => ({
    name: 'gateway',
    description: 'Services of the network, and the routes to them',
    health_path: '/health',
    api_path: '/api/v2/gateway',
    capabilities: ['service-registry', 'chat'],
    objects: ['chat', 'register'],
    deployment_profile,
    supported_transports: [...transports],
  }),
  async gauges(call) {
    // From zero on: a counter that appears with its first event shows no increase by it.
    for (const outcome of ingressWriteTotal.labels.outcome) call.count(ingressWriteTotal, { outcome }, 0)
    for (const mode of chatTurnTotal.labels.mode)
      for (const outcome of chatTurnTotal.labels.outcome) call.count(chatTurnTotal, { mode, outcome }, 0)
    countGuideFromZero(call)
    const all = await loadServices(call)
    for (const state of serviceStates)
      call.set(serviceCount, { state }, all.filter((service) => service.state === state).length)
    const isKeeping = call.settings(ingressSettings).managed_enabled
    const ingresses = isKeeping ? await call.store(managedIngresses).countBy('state') : undefined
    for (const state of managedIngressStates) call.set(managedIngressCount, { state }, ingresses?.get(state) ?? 0)
  },
})
