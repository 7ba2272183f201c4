// The key-value store of a site that is one process: a map with an end for each entry, and for their number.
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { KeyValue } from '../../../daemon/kernel/store/key-value.ts'

type MemoryEntry = { readonly value: string; readonly end_ms: number }

/** New entries beyond this are refused: a caller that sends ever new names must not fill the memory. */
const max_entries = 100_000

const toSecond = (ms: number) => Math.floor(ms / 1_000)

/** `now`: milliseconds of a clock that never jumps. */
export function memoryKeyValue(now: () => number): KeyValue {
  const entries = new Map<string, MemoryEntry>()
  /** Keys by the second in which their entries end: what has ended is found without a look at the others. */
  const ending = new Map<number, Set<string>>()
  const remove = (key: string) => {
    const entry = entries.get(key)
    if (!entry) return
    entries.delete(key)
    ending.get(toSecond(entry.end_ms))?.delete(key)
  }
  const held = (key: string): MemoryEntry | undefined => {
    const entry = entries.get(key)
    if (entry && entry.end_ms > now()) return entry
    remove(key)
    return undefined
  }
  const sweep = () => {
    const before = toSecond(now())
    for (const [second, keys] of ending) {
      if (second >= before) continue
      for (const key of keys) entries.delete(key)
      ending.delete(second)
    }
  }
  /** The second in which all that had ended before it was let go. */
  let swept = toSecond(now())
  const put = (key: string, entry: MemoryEntry) => {
    if (swept !== toSecond(now())) {
      swept = toSecond(now())
      sweep()
    }
    const before = entries.get(key)
    if (!before && entries.size >= max_entries) throw new Refusal('unavailable', 'too many short-lived values are held')
    entries.set(key, entry)
    if (before?.end_ms === entry.end_ms) return
    if (before) ending.get(toSecond(before.end_ms))?.delete(key)
    const second = toSecond(entry.end_ms)
    const together = ending.get(second)
    if (together) together.add(key)
    else ending.set(second, new Set([key]))
  }
  return {
    name: 'memory',
    get: async (key) => held(key)?.value,
    async swap(key, from, to, life_ms) {
      if (held(key)?.value !== from) return false
      if (to === undefined) remove(key)
      else put(key, { value: to, end_ms: now() + life_ms })
      return true
    },
    async increment(key, by, life_ms) {
      const { value, end_ms } = held(key) ?? { value: '0', end_ms: now() + life_ms }
      const count = Number(value) + by
      if (!Number.isSafeInteger(count)) throw new Error(`the value of ${key} is not a count`)
      // A look alone makes no entry: names that are only looked for must not fill the memory.
      if (by !== 0) put(key, { value: String(count), end_ms })
      return { count, left_ms: Math.ceil(end_ms - now()) }
    },
    health: async () => ({ ok: true, detail: 'in this process' }),
    async close() {
      entries.clear()
      ending.clear()
    },
  }
}
