// Counters of a thread on a key-value server, loaded only if one is configured.
import { redisKeyValue } from '../../../../adapters/keyvalue/redis/redis-keyvalue.ts'
import type { KeyValue } from '../../../kernel/store/key-value.ts'
import type { Log } from '../../../kernel/telemetry/log.ts'
import type { ProxyThreadConfig } from '../threads/thread-config.ts'

/** Keys have no prefix of the site, so that all proxies on one server count together. */
export function remoteCounter(options: NonNullable<ProxyThreadConfig['key_value']>, log: Log): KeyValue {
  const { host, port, db, username, password, verify } = options
  return redisKeyValue({
    ...{ host: host ?? '', port, username, password, database: db, prefix: '', chance: Math.random },
    ...(verify === false ? {} : { tls: { ca_file: verify === true ? undefined : verify } }),
    onStateChange(state, detail) {
      if (state === 'lost') log.error('proxy.counters.lost', { detail })
      else log.info('proxy.counters.recovered')
    },
  })
}
