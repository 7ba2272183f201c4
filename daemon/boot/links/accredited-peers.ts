// In profile D a channel may be used only while it is accredited; after that its peer counts as absent.
import { refuse } from '../../kernel/error/errors.ts'
import type { Peers } from '../../kernel/identity/peer.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { settings as siteRoleSettings } from '../../roles/site/settings.ts'

/** The reason why the channel may not be used now (epoch milliseconds); undefined if it may. */
export function findAccreditationFault(peer: string, resolved: ResolvedSettings, now: number): string | undefined {
  if (getSettings(resolved, platformSettings).deployment_profile !== 'classified_airgapped') return undefined
  return findAccreditationLapse(peer, resolved, now)
}

/** The reason why the peer has no valid accreditation now, in any profile; undefined if it has. */
export function findAccreditationLapse(peer: string, resolved: ResolvedSettings, now: number): string | undefined {
  const { accreditations } = getSettings(resolved, siteRoleSettings)
  const accreditation = Object.hasOwn(accreditations, peer) ? accreditations[peer] : undefined
  if (!accreditation) return 'it has no accreditation'
  const today = new Date(now).toISOString().slice(0, 10)
  return accreditation.valid_until >= today ? undefined : `its accreditation ended on ${accreditation.valid_until}`
}

/** Peers whose channels may be used now. `get` of another throws `Refusal('unavailable')`, so its messages wait. */
export function accreditedPeers(peers: Peers, resolved: ResolvedSettings, now: () => number): Peers {
  return {
    list: async () => (await peers.list()).filter(({ name }) => !findAccreditationFault(name, resolved, now())),
    async get(name) {
      const peer = await peers.get(name)
      const fault = peer && findAccreditationFault(name, resolved, now())
      if (fault) throw refuse('unavailable', `the channel to ${name} may not be used: ${fault}`)
      return peer
    },
  }
}
