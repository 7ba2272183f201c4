// Runs each carrier against each requirement.
import { afterEach, describe, test } from 'vitest'
import {
  carry,
  labelFor,
  message,
  restart,
  startReceiving,
  twoSites,
  type World,
} from '../transport/filedrop/two-sites.ts'
import { type TransportWorld, transportRequirements } from './transport.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

describe('filedrop', () => {
  for (const { id, says, holds } of transportRequirements) {
    test(`${id}: ${says}`, async () => holds(await filedropWorld()))
  }
})

async function filedropWorld(): Promise<TransportWorld> {
  const sites: World = await twoSites()
  ends.push(sites.dispose)
  const { alpha, bravo } = sites
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
    restartSender: () => restart(alpha),
    restartReceiver: () => restart(bravo, handler),
    async settle() {
      await alpha.transport.rescan()
      carry(alpha, bravo)
      await bravo.transport.rescan()
    },
    delivered,
    answer(verdict) {
      answer = verdict
    },
    receiverStatus: () => bravo.transport.status(),
    outgoing: (more) => message(sites, more),
    forbidden: () => message(sites, { label: labelFor(bravo.tenant_id, { level: 'TOP_SECRET' }) }),
  }
}
