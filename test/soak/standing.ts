// What two soaked sites stand on: a search engine, a key-value store, a broker and an identity provider, all real.
import { rightsOf } from '../engines/rabbitmq/by-broker.ts'
import { keycloak } from '../support/engines/keycloak.ts'
import { audience } from '../support/engines/keycloak-realm.ts'
import { opensearch } from '../support/engines/opensearch.ts'
import { rabbitmq } from '../support/engines/rabbitmq.ts'
import { redis } from '../support/engines/redis.ts'
import { edit, type PackagedSite } from '../support/packaged-sites.ts'

export type Engines = Awaited<ReturnType<typeof startEngines>>

export async function startEngines() {
  const made = {
    opensearch: await opensearch(),
    redis: await redis(),
    rabbitmq: await rabbitmq({ users: { alpha: rightsOf('alpha'), bravo: rightsOf('bravo') } }),
    keycloak: await keycloak({ lifespan_s: 3_600 }),
  }
  await Promise.all(Object.values(made).map((engine) => engine.start()))
  return made
}

/** `name` keeps what this seed leaves in the engines apart from that of others. */
export function stand(site: PackagedSite, engines: Engines, name: string): void {
  const { opensearch: search, redis: kv, rabbitmq: broker, keycloak: provider } = engines
  const peers = { [site.name === 'alpha' ? 'bravo' : 'alpha']: {} }
  edit(site, {
    search: { host: search.url, index_prefix: name, replicas: 0, timeout: 5 },
    kv: { host: '127.0.0.1', port: kv.port, password: kv.password, verify: false },
    amqp: { url: broker.url, user: site.name, password: broker.password, prefix: name, peers },
    identity: { provider: 'oidc' },
    sso: {
      issuer: provider.issuer,
      audience,
      client_id: 'site',
      role_map: { examiner: ['analyst'] },
      refetch_min_s: 1,
    },
  })
}
