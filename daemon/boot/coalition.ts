// Opens the way to a coalition's hub from the profile: who this node is, what it offers, whose messages go there.
import { coalitionCarrier } from '../../adapters/transport/coalition/coalition-carrier.ts'
import type { Carrier } from '../kernel/carrier.ts'
import { coalitionSettings } from '../kernel/coalition-settings.ts'
import { platformSettings } from '../kernel/platform-settings.ts'
import type { NetworkMaterials } from './network-carriers.ts'
import { valuesOf } from './profile.ts'

/** Only for settings without `coalitionFault`. */
export function openCoalition({ resolved, site, log, chance }: NetworkMaterials): Carrier {
  const { hub_url, token_url, client_id = site.name, secret_file, ...given } = valuesOf(resolved, coalitionSettings)
  if (hub_url === undefined || token_url === undefined || secret_file === undefined)
    throw new Error('the coalition is not wholly named in the profile')
  const { tenant_id, roles } = valuesOf(resolved, platformSettings)
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
