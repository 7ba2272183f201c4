// Opens the carrier to a coalition's hub: the registration of this node, its capabilities and its peers, by the profile.
import { coalitionCarrier } from '../../../adapters/transport/coalition/coalition-carrier.ts'
import type { Carrier } from '../../kernel/messaging/carrier.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import { roles } from '../../roles.ts'
import { coalitionSettings } from '../../shared/coalition/coalition-settings.ts'
import { capabilityMessage } from '../../shared/coalition/hub-protocol.ts'
import type { StatusFeed } from '../../shared/coalition/status-feed.ts'
import type { NetworkCarrierOptions } from './network-carriers.ts'

/** Requires settings that `findCoalitionFault` accepts. */
export function openCoalitionCarrier({ resolved, site, log, chance }: NetworkCarrierOptions): Carrier & StatusFeed {
  const {
    hub_url,
    token_url,
    client_id = site.name,
    secret_file,
    ...coalition
  } = getSettings(resolved, coalitionSettings)
  if (hub_url === undefined || token_url === undefined || secret_file === undefined)
    throw new Error('coalition.hub_url, coalition.token_url and coalition.secret_file must be set')
  const { tenant_id, roles: running } = getSettings(resolved, platformSettings)
  const offers = roles.flatMap(({ name, coalition_offer }) => (running.includes(name) ? (coalition_offer ?? []) : []))
  const capabilities = offers.flatMap((offer) => offer.capabilities)
  const { description, accepts } = coalition
  return coalitionCarrier({
    ...{ hub_url, token_url, client_id, secret_file, log, chance },
    ca_file: coalition.ca_file,
    peers: [...new Set(coalition.peers)],
    registration: { kind: 'mission_service', site: site.name, node_tenant_id: tenant_id, description, capabilities },
    capability: capabilityMessage.parse({ hosts: offers.flatMap(({ hosts }) => hosts), accepts }),
  })
}
