// Declares the hub role, through which the sites of a coalition find each other and exchange messages.
import { type Role, role } from '../../kernel/role/role.ts'
import { publish as capabilityPublish } from './capability/publish.ts'
import { events as feedEvents } from './feed/events.ts'
import { list as feedList } from './feed/list.ts'
import { feedEntries } from './feed/model.ts'
import { publish as feedPublish } from './feed/publish.ts'
import { acknowledge } from './message/acknowledge.ts'
import { deliver } from './message/deliver.ts'
import { events as messageEvents } from './message/events.ts'
import { list as messageList } from './message/list.ts'
import { mailboxes } from './message/model.ts'
import { metrics, nodeCount } from './metrics.ts'
import { get } from './node/get.ts'
import { heartbeat } from './node/heartbeat.ts'
import { list } from './node/list.ts'
import { nodeState, nodes } from './node/model.ts'
import { register } from './node/register.ts'
import { silenceLimit } from './node/view.ts'
import { outline } from './outline.ts'
import { trim } from './workers/trim.ts'

export const hub: Role = role(outline, {
  collections: [nodes, feedEntries, mailboxes],
  metrics,
  workers: [trim],
  operations: {
    node: { register, heartbeat, list, get },
    capability: { publish: capabilityPublish },
    feed: { publish: feedPublish, list: feedList, events: feedEvents },
    message: { deliver, list: messageList, acknowledge, events: messageEvents },
  },
  messages: {},
  serviceInfo: ({ deployment_profile, transports }) => ({
    name: 'hub-service',
    description: 'Nodes, capabilities, status feed and mailboxes of a coalition',
    health_path: '/health',
    api_path: '/api/v2',
    capabilities: ['coalition-hub'],
    deployment_profile,
    supported_transports: [...transports],
  }),
  async gauges(call) {
    const all = await call.store(nodes).count()
    const lost = await call.store(nodes).count({ heard_ts: { lt: call.now() - silenceLimit(call) } })
    const counts = { present: all - lost, lost }
    for (const state of nodeState.options) call.set(nodeCount, { state }, counts[state])
  },
})
