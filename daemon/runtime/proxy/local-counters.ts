// The counters of a machine without a key-value server: each source its own, and shared ones once there are too many sources.
import { hash } from 'node:crypto'
import { memoryKeyValue } from '../../../adapters/keyvalue/memory/memory-keyvalue.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import type { KeyValue } from '../../kernel/store/key-value.ts'

/**
 * Whoever sends from ever new addresses fills the memory; nobody else may be turned away for that. What finds no room is
 * counted with whatever falls on the same of 65,536 counts: a source may be limited too early by it. One that is counted
 * there first and by itself after may have its limit twice.
 * `now`: milliseconds of a clock that never jumps. `salt`: what no caller knows, or it would choose with whom to be counted.
 */
export function localCounters(now: () => number, salt: string): Pick<KeyValue, 'increment'> {
  const own = memoryKeyValue(now)
  const shared = memoryKeyValue(now)
  return {
    async increment(key, by, life_ms) {
      try {
        return await own.increment(key, by, life_ms)
      } catch (error) {
        if (!isRefusal(error)) throw error
        return shared.increment(hash('sha256', salt + key).slice(0, 4), by, life_ms)
      }
    },
  }
}
