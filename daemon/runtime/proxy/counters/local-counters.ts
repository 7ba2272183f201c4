// Counters without a key-value server: one for each source, and shared ones once there are too many sources.
import { hash } from 'node:crypto'
import { memoryKeyValue } from '../../../../adapters/keyvalue/memory/memory-keyvalue.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { KeyValue } from '../../../kernel/store/key-value.ts'

/**
 * A caller with ever new addresses can fill the memory, which must not deny other callers. Sources without room share 65,536
 * counters by hash: such a source may be limited too early. A source that is counted there first and separately after may
 * have its limit twice.
 * `now`: milliseconds of a clock that never jumps. `salt`: secret, so that no caller can choose whose counter it shares.
 */
export function localCounters(now: () => number, salt: string): Pick<KeyValue, 'increment'> {
  const separateCounters = memoryKeyValue(now)
  const sharedCounters = memoryKeyValue(now)
  return {
    async increment(key, by, life_ms) {
      try {
        return await separateCounters.increment(key, by, life_ms)
      } catch (error) {
        if (!isRefusal(error)) throw error
        return sharedCounters.increment(hash('sha256', salt + key).slice(0, 4), by, life_ms)
      }
    },
  }
}
