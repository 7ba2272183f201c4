// Joins two file-drop sites by real mTLS on loopback, as boot does: a ferry at each over the folders of its channel.
import { ferry } from '../../../daemon/boot/ferry.ts'
import type { Handover } from '../../../daemon/kernel/carrier.ts'
import { allTaken } from '../filedrop/all-taken.ts'
import type { Site, World } from '../filedrop/two-sites.ts'
import { tlsWorld } from './tls-world.ts'

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** `bring` resolves when all that alpha has sent was taken to bravo. */
export async function joinedByTls({ alpha, bravo }: World) {
  const tls = await tlsWorld()
  const ferries = [
    { site: alpha, carrier: tls.alpha.carrier },
    { site: bravo, carrier: tls.bravo.carrier },
  ].map(({ site, carrier }) => ferry({ carrier, handover: handoverOf(site), log, chance: () => 0, look_every_ms: 10 }))
  for (const each of ferries) await each.start()
  return {
    bring: () => allTaken(alpha),
    async end() {
      for (const each of ferries) await each.stop()
      await tls.end()
    },
  }
}

/** Of whatever carrier the site has now: a test may put another in its place. */
function handoverOf(site: Site): Handover {
  return {
    hand: (...given) => site.transport.handover.hand(...given),
    land: (...given) => site.transport.handover.land(...given),
    judged: (...given) => site.transport.handover.judged(...given),
    onReady: (tell) => site.transport.handover.onReady(tell),
  }
}
