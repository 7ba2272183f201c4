// The key-value store of a site that is one process: a map with an end for each entry, and for their number.
import { Refused } from '../../../daemon/kernel/errors.ts'
import type { KeyValue } from '../../../daemon/kernel/keyvalue.ts'

type Entry = { readonly value: string; readonly end_ms: number }

/** Beyond this nothing new is taken: whoever sends ever new names must not fill the memory. */
const most_entries = 100_000

/** `now`: milliseconds of a clock that never jumps. */
export function memoryKeyValue(now: () => number): KeyValue {
  const entries = new Map<string, Entry>()
  const held = (key: string): Entry | undefined => {
    const entry = entries.get(key)
    if (entry && entry.end_ms > now()) return entry
    entries.delete(key)
    return undefined
  }
  /** No entry ends before: until then a look at all of them would find nothing. */
  let first_end = Number.POSITIVE_INFINITY
  const sweep = () => {
    first_end = Number.POSITIVE_INFINITY
    for (const each of entries.keys()) first_end = Math.min(first_end, held(each)?.end_ms ?? first_end)
  }
  const put = (key: string, entry: Entry) => {
    if (!entries.has(key) && entries.size >= most_entries) {
      if (now() >= first_end) sweep()
      if (entries.size >= most_entries) throw new Refused('unavailable', 'too many short-lived values are held')
    }
    first_end = Math.min(first_end, entry.end_ms)
    entries.set(key, entry)
  }
  return {
    name: 'memory',
    get: async (key) => held(key)?.value,
    async swap(key, from, to, life_ms) {
      if (held(key)?.value !== from) return false
      if (to === undefined) entries.delete(key)
      else put(key, { value: to, end_ms: now() + life_ms })
      return true
    },
    async increment(key, by, life_ms) {
      const { value, end_ms } = held(key) ?? { value: '0', end_ms: now() + life_ms }
      const count = Number(value) + by
      if (!Number.isSafeInteger(count)) throw new Error(`the value of ${key} is no count`)
      put(key, { value: String(count), end_ms })
      return { count, left_ms: Math.ceil(end_ms - now()) }
    },
    health: async () => ({ ok: true, detail: 'in this process' }),
    close: async () => entries.clear(),
  }
}
