// The servers of two soaked sites: a search engine, a key-value store, a broker and an identity provider, all real.
import { buildSiteRights } from '../engines/rabbitmq/join-by-broker.ts'
import { keycloak, keycloakRequirement } from '../support/engines/keycloak.ts'
import { keycloakAudience } from '../support/engines/keycloak-realm.ts'
import { opensearch, opensearchRequirement } from '../support/engines/opensearch.ts'
import { rabbitmq, rabbitmqRequirement } from '../support/engines/rabbitmq.ts'
import { redis, redisRequirement } from '../support/engines/redis.ts'
import { editProfile, type FederatedSite } from '../support/site/packaged-federation.ts'

export type SoakEngines = Awaited<ReturnType<typeof startSoakEngines>>

/** Throws where one is not on this machine. */
export async function startSoakEngines() {
  for (const { isPresent, name, hint } of [
    opensearchRequirement,
    redisRequirement,
    rabbitmqRequirement,
    keycloakRequirement,
  ]) {
    if (!isPresent) throw new Error(`this soak needs ${name}: ${hint}`)
  }
  const made = {
    opensearch: await opensearch(),
    redis: await redis(),
    rabbitmq: await rabbitmq({ users: { alpha: buildSiteRights('alpha'), bravo: buildSiteRights('bravo') } }),
    keycloak: await keycloak({ lifespan_s: 3_600 }),
  }
  await Promise.all(Object.values(made).map((engine) => engine.start()))
  return made
}

/** `name` keeps what this seed leaves in the engines apart from that of others. */
export function configureSite(site: FederatedSite, engines: SoakEngines, name: string): void {
  const { opensearch: search, redis: kv, rabbitmq: broker, keycloak: provider } = engines
  const peers = { [site.name === 'alpha' ? 'bravo' : 'alpha']: {} }
  editProfile(site, {
    search: { host: search.url, index_prefix: name, replicas: 0, timeout: 5 },
    kv: { host: '127.0.0.1', port: kv.port, password: kv.password, verify: false },
    amqp: { url: broker.url, user: site.name, password: broker.password, prefix: name, peers },
    identity: { provider: 'oidc' },
    sso: {
      issuer: provider.issuer,
      audience: keycloakAudience,
      client_id: 'site',
      role_map: { examiner: ['analyst'] },
      refetch_min_s: 1,
    },
  })
}
