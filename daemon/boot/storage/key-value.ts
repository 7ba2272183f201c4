// Opens the key-value store that the processes of a site share: Redis if the profile names one, else the process's memory.
import { memoryKeyValue } from '../../../adapters/keyvalue/memory/memory-keyvalue.ts'
import type { Role } from '../../kernel/role/role.ts'
import { keyValueSettings } from '../../kernel/settings/backing-service-settings.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { KeyValue } from '../../kernel/store/key-value.ts'
import type { Log } from '../../kernel/telemetry/log.ts'

export type KeyValueOptions = {
  /** Roles of this process. */
  readonly starting: readonly Role[]
  readonly resolved: ResolvedSettings
  /** This site's name. */
  readonly site: string
  readonly log: Log
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
  /** A uniform random number from 0 to 1. */
  readonly chance: () => number
}

/** Retries a server that does not answer without limit. Throws if a file of certificates cannot be read. */
export async function openKeyValue({
  starting,
  resolved,
  site,
  log,
  monotonic,
  chance,
}: KeyValueOptions): Promise<KeyValue> {
  const { host, port, db, username, password, verify } = getSettings(resolved, keyValueSettings)
  const isUsed = starting.some(({ settings }) => settings.some(({ name }) => name === keyValueSettings.name))
  if (host === undefined || !isUsed) return memoryKeyValue(monotonic)
  const { redisKeyValue } = await import('../../../adapters/keyvalue/redis/redis-keyvalue.ts')
  return redisKeyValue({
    ...{ host, port, username, password, chance },
    database: db,
    prefix: `platform/${site}/`,
    ...(verify === false ? {} : { tls: { ca_file: verify === true ? undefined : verify } }),
    onStateChange(state, detail) {
      if (state === 'lost') log.error('platform.keyvalue.lost', { detail })
      else log.info('platform.keyvalue.recovered')
    },
  })
}
