// In profile D a channel may be used only while it is accredited: the day after, its peer is as good as not there.
import { refuse } from '../kernel/errors.ts'
import type { Peers } from '../kernel/peer.ts'
import { platformSettings } from '../kernel/platform-settings.ts'
import type { Resolved } from '../kernel/settings.ts'
import { settings as siteRoleSettings } from '../roles/site/settings.ts'
import { valuesOf } from './profile.ts'

/** Why the channel to the peer may not be used at this time (epoch milliseconds); undefined when it may. */
export function accreditationFault(peer: string, resolved: Resolved, now: number): string | undefined {
  if (valuesOf(resolved, platformSettings).deployment_profile !== 'classified_airgapped') return undefined
  return accreditationLapse(peer, resolved, now)
}

/** Why the peer has no accreditation at this time, in whatever profile; undefined when it has. */
export function accreditationLapse(peer: string, resolved: Resolved, now: number): string | undefined {
  const { accreditations } = valuesOf(resolved, siteRoleSettings)
  const held = Object.hasOwn(accreditations, peer) ? accreditations[peer] : undefined
  if (!held) return 'it has no accreditation'
  const today = new Date(now).toISOString().slice(0, 10)
  return held.valid_until >= today ? undefined : `its accreditation ended on ${held.valid_until}`
}

/** The peers whose channels may be used now. Asking for another by name is `Refused('unavailable')`: what is to be sent waits. */
export function accreditedPeers(peers: Peers, resolved: Resolved, now: () => number): Peers {
  return {
    list: async () => (await peers.list()).filter(({ name }) => !accreditationFault(name, resolved, now())),
    async get(name) {
      const found = await peers.get(name)
      const fault = found && accreditationFault(name, resolved, now())
      if (fault) throw refuse('unavailable', `the channel to ${name} may not be used: ${fault}`)
      return found
    },
  }
}
