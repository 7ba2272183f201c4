// File-drop's messages by a real broker: all that every transport must keep, and what strangers may put in a queue.
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import type { QueueType } from '../../../adapters/transport/amqp/topology.ts'
import { type TransportWorld, transportRequirements } from '../../conformance/transport.ts'
import { type Rabbitmq, rabbitmqWanted } from '../../support/engines/rabbitmq.ts'
import { whenPresent } from '../../support/requires.ts'
import { labelFor, message, restart, startReceiving } from '../../transport/filedrop/two-sites.ts'
import { brokerOf, joined } from './by-broker.ts'

const test = whenPresent(rabbitmqWanted)
let broker: Rabbitmq
beforeAll(async () => {
  if (!rabbitmqWanted.isPresent) return
  broker = await brokerOf()
  await broker.start()
})
afterAll(() => broker?.end())

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

describe.each(['classic', 'quorum'] as const)('amqp by %s queues', (queue_type) => {
  for (const { id, says, holds } of transportRequirements) {
    test(`${id}: ${says}`, async () => holds(await brokered(queue_type)))
  }
})

async function brokered(queue_type: QueueType): Promise<TransportWorld> {
  const sites = await joined(broker, { queue_type })
  ends.push(sites.end)
  const { alpha, bravo } = sites.world
  let answer: Parameters<TransportWorld['answer']>[0] = () => ({ verdict: 'applied' })
  const delivered: TransportWorld['delivered'] = []
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
    restartSender: () => sites.apart(alpha, () => restart(alpha)),
    restartReceiver: () => sites.apart(bravo, () => restart(bravo, handler)),
    settle: sites.settle,
    delivered,
    answer(verdict) {
      answer = verdict
    },
    receiverStatus: () => bravo.transport.status(),
    outgoing: (more) => message(sites.world, more),
    forbidden: () => message(sites.world, { label: labelFor(bravo.tenant_id, { level: 'TOP_SECRET' }) }),
  }
}
