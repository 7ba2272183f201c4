// Connects the consensus role to adapters: webhooks and brokers that receive decisions, and the thread that analyses conflicts.
import { postWebhook } from '../../../adapters/webhook/http/webhook.ts'
import type { RoleWire } from '../../boot/role-wire.ts'
import { ObservedDependencies, observedDependenciesPart } from '../../kernel/role/observed-dependencies.ts'
import type { Site } from '../../kernel/role/site.ts'
import { conflictAnalyser } from '../../roles/consensus/dissent/conflict-analyser.ts'
import { type BrokerSinkClient, brokerSinkClient } from '../../roles/consensus/emission/broker-sink.ts'
import { type WebhookSinkClient, webhookSinkClient } from '../../roles/consensus/emission/webhook-sink.ts'
import { listSinkDependencies } from '../../roles/consensus/session/sinks.ts'
import { openConflictAnalyser } from './open-conflict-analyser.ts'

export const wire: RoleWire = {
  async open({ resources: { site, clock, resolved } }) {
    const observed = new ObservedDependencies(listSinkDependencies(resolved))
    const webhooks: WebhookSinkClient = { post: (to, body, by) => postWebhook(to, body, by, clock.now()) }
    return {
      parts: [
        [webhookSinkClient.name, webhooks],
        [brokerSinkClient.name, openBrokerSinkClient(site)],
        [conflictAnalyser.name, openConflictAnalyser()],
        [observedDependenciesPart.name, observed],
      ],
      dependencies: observed.list(),
    }
  },
}

/** Loads the broker client at the first emission to a broker. */
function openBrokerSinkClient(site: Site): BrokerSinkClient {
  let loading: Promise<BrokerSinkClient> | undefined
  const load = async () => {
    const { amqpEmitter } = await import('../../../adapters/transport/amqp/amqp-emitter.ts')
    return amqpEmitter(`platform ${site.name}: emits`)
  }
  return {
    async publish(...message) {
      loading ??= load()
      await (await loading).publish(...message)
    },
  }
}
