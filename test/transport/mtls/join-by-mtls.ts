// Joins two file-drop sites by real mTLS on loopback, as boot does: each with a link pump over its channel folders.
import { linkPump } from '../../../daemon/boot/links/link-pump.ts'
import type { Handover } from '../../../daemon/kernel/messaging/carrier.ts'
import type { FiledropSite, FiledropSites } from '../../support/filedrop/filedrop-sites.ts'
import { waitUntilTaken } from '../../support/filedrop/wait-until-taken.ts'
import { createMtlsPair } from './mtls-pair.ts'

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** `bring` resolves when all that alpha has sent was taken to bravo. */
export async function joinByMtls({ alpha, bravo }: FiledropSites) {
  const tls = await createMtlsPair()
  const pumps = [
    { site: alpha, carrier: tls.alpha.carrier },
    { site: bravo, carrier: tls.bravo.carrier },
  ].map(({ site, carrier }) =>
    linkPump({ carrier, handover: createHandover(site), log, chance: () => 0, poll_interval_ms: 10 }),
  )
  for (const each of pumps) await each.start()
  return {
    bring: () => waitUntilTaken(alpha),
    async end() {
      for (const each of pumps) await each.stop()
      await tls.end()
    },
  }
}

/** Of the carrier that the site has now: a test may replace it. */
function createHandover(site: FiledropSite): Handover {
  return {
    offer: (...args) => site.transport.handover.offer(...args),
    receive: (...args) => site.transport.handover.receive(...args),
    whenProcessed: (...args) => site.transport.handover.whenProcessed(...args),
    outcomeOf: (...args) => site.transport.handover.outcomeOf(...args),
    onReady: (tell) => site.transport.handover.onReady(tell),
  }
}
