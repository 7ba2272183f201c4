// Opens the carrier of a coalition's hub from the profile: registration, capabilities and peers.
import { coalitionCarrier } from '../../../adapters/transport/coalition/coalition-carrier.ts'
import type { Carrier } from '../../kernel/messaging/carrier.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import { coalitionSettings } from '../../shared/coalition/coalition-settings.ts'
import type { StatusFeed } from '../../shared/coalition/status-feed.ts'
import type { NetworkCarrierOptions } from './network-carriers.ts'

/** Only for settings without `coalitionFault`. */
export function openCoalitionCarrier({ resolved, site, log, chance }: NetworkCarrierOptions): Carrier & StatusFeed {
  const { hub_url, token_url, client_id = site.name, secret_file, ...given } = getSettings(resolved, coalitionSettings)
  if (hub_url === undefined || token_url === undefined || secret_file === undefined)
    throw new Error('the coalition is not wholly named in the profile')
  const { tenant_id, roles } = getSettings(resolved, platformSettings)
  const hosts = roles.includes('consensus') ? (['consensus_session'] as const) : []
  const capabilities = hosts.length > 0 ? ['consensus-session', 'federation-contribution'] : []
  const { description, accepts } = given
  return coalitionCarrier({
    ...{ hub_url, token_url, client_id, secret_file, log, chance },
    ca_file: given.ca_file,
    peers: [...new Set(given.peers)],
    registration: { kind: 'mission_service', site: site.name, node_tenant_id: tenant_id, description, capabilities },
    capability: { hosts: [...hosts], accepts },
  })
}
