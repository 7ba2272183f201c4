// File-drop's messages by a real broker: all that every transport must keep, and what strangers may put in a queue.
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import type { AmqpQueueType } from '../../../adapters/transport/amqp/topology.ts'
import { type TransportFixture, transportRequirements } from '../../conformance/transport.ts'
import { type Rabbitmq, rabbitmqRequirement } from '../../support/engines/rabbitmq.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { buildLabel, buildMessage, restartSite, startReceiving } from '../../transport/filedrop/filedrop-sites.ts'
import { joinByBroker, shareBroker } from './join-by-broker.ts'

const test = whenPresent(rabbitmqRequirement)
let broker: Rabbitmq
beforeAll(async () => {
  if (!rabbitmqRequirement.isPresent) return
  broker = shareBroker('carrier')
  await broker.start()
})
afterAll(() => broker?.end())

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

describe.each(['classic', 'quorum'] as const)('amqp by %s queues', (queue_type) => {
  for (const { id, description, verify } of transportRequirements) {
    test(`${id}: ${description}`, async () => verify(await createBrokerFixture(queue_type)))
  }
})

async function createBrokerFixture(queue_type: AmqpQueueType): Promise<TransportFixture> {
  const sites = await joinByBroker(broker, { queue_type })
  ends.push(sites.end)
  const { alpha, bravo } = sites.world
  let answer: Parameters<TransportFixture['answer']>[0] = () => ({ verdict: 'applied' })
  const delivered: TransportFixture['delivered'] = []
  const handler = async (incoming: (typeof delivered)[number]) => {
    delivered.push(incoming)
    return await answer(incoming)
  }
  await startReceiving(alpha)
  await startReceiving(bravo, handler)
  return {
    get sender() {
      return alpha.transport
    },
    restartSender: () => sites.disconnectDuring(alpha, () => restartSite(alpha)),
    restartReceiver: () => sites.disconnectDuring(bravo, () => restartSite(bravo, handler)),
    deliverAll: sites.deliverAll,
    delivered,
    answer(verdict) {
      answer = verdict
    },
    receiverStatus: () => bravo.transport.status(),
    outgoing: (more) => buildMessage(sites.world, more),
    forbidden: () => buildMessage(sites.world, { label: buildLabel(bravo.tenant_id, { level: 'TOP_SECRET' }) }),
  }
}
