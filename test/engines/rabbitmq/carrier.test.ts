// File-drop's messages by a real broker: all that every transport must keep, and what strangers may put in a queue.
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import type { AmqpQueueType } from '../../../adapters/transport/amqp/topology.ts'
import { type TransportFixture, transportRequirements } from '../../conformance/transport.ts'
import { type Rabbitmq, rabbitmqRequirement } from '../../support/engines/rabbitmq.ts'
import { startTransportFixture } from '../../support/filedrop/filedrop-transport-fixture.ts'
import { whenPresent } from '../../support/runner/requires.ts'
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
  return await startTransportFixture(sites.world, sites.deliverAll, sites.disconnectDuring)
}
