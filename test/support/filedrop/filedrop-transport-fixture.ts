// Two sites over folders as the fixture of the transport requirements: bravo answers as the test decides.
import type { TransportFixture } from '../../conformance/transport.ts'
import {
  buildLabel,
  buildMessage,
  type FiledropSite,
  type FiledropSites,
  restartSite,
  startReceiving,
} from './filedrop-sites.ts'

/** Both sites receive from then on. `restartWith` restarts a site together with its carrier. */
export async function startTransportFixture(
  sites: FiledropSites,
  deliverAll: () => Promise<void>,
  restartWith: (site: FiledropSite, restart: () => Promise<void>) => Promise<void> = (_, restart) => restart(),
): Promise<TransportFixture> {
  const { alpha, bravo } = sites
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
    restartSender: () => restartWith(alpha, () => restartSite(alpha)),
    restartReceiver: () => restartWith(bravo, () => restartSite(bravo, handler)),
    deliverAll,
    delivered,
    answer(verdict) {
      answer = verdict
    },
    receiverStatus: () => bravo.transport.status(),
    outgoing: (more) => buildMessage(sites, more),
    forbidden: () => buildMessage(sites, { label: buildLabel(bravo.tenant_id, { level: 'TOP_SECRET' }) }),
  }
}
