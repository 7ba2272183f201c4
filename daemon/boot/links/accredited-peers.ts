// In profile D a channel may be used only while it is accredited: the day after, its peer is as good as not there.
import { refuse } from '../../kernel/error/errors.ts'
import type { Peers } from '../../kernel/identity/peer.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { settings as siteRoleSettings } from '../../roles/site/settings.ts'

/** Why the channel to the peer may not be used at this time (epoch milliseconds); undefined when it may. */
export function findAccreditationFault(peer: string, resolved: ResolvedSettings, now: number): string | undefined {
  if (getSettings(resolved, platformSettings).deployment_profile !== 'classified_airgapped') return undefined
  return findAccreditationLapse(peer, resolved, now)
}

/** Why the peer has no accreditation at this time, in any profile; undefined when it has. */
export function findAccreditationLapse(peer: string, resolved: ResolvedSettings, now: number): string | undefined {
  const { accreditations } = getSettings(resolved, siteRoleSettings)
  const held = Object.hasOwn(accreditations, peer) ? accreditations[peer] : undefined
  if (!held) return 'it has no accreditation'
  const today = new Date(now).toISOString().slice(0, 10)
  return held.valid_until >= today ? undefined : `its accreditation ended on ${held.valid_until}`
}

/**
 * The peers whose channels may be used now. Asking for another by name is `Refusal('unavailable')`: what is to be sent
 * waits.
 */
export function accreditedPeers(peers: Peers, resolved: ResolvedSettings, now: () => number): Peers {
  return {
    list: async () => (await peers.list()).filter(({ name }) => !findAccreditationFault(name, resolved, now())),
    async get(name) {
      const found = await peers.get(name)
      const fault = found && findAccreditationFault(name, resolved, now())
      if (fault) throw refuse('unavailable', `the channel to ${name} may not be used: ${fault}`)
      return found
    },
  }
}
