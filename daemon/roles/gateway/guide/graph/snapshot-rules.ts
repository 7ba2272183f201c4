// Pure decisions of snapshots: which of them stay as they grow old.

import { scopeKey } from './rules.ts'
import type { GraphSnapshot } from './snapshot-model.ts'

const day_ms = 86_400_000
export const snapshot_keep_ms = 90 * day_ms

export type ThinningTerms = { readonly hourly_days: number; readonly daily_days: number }

type DatedSnapshot = Pick<
  GraphSnapshot,
  'snapshot_id' | 'graph_id' | 'tenant_id' | 'label' | 'tier' | 'taken_ts' | 'parts'
>

/** Of snapshots older than the terms: the newest of each graph and day stays as `daily`, then of each ISO week as `weekly`. */
export function planThinning<T extends DatedSnapshot>(
  snapshots: readonly T[],
  now: number,
  { hourly_days, daily_days }: ThinningTerms,
): { removed: T[]; retagged: { snapshot_id: string; tier: 'daily' | 'weekly' }[] } {
  const newestFirst = snapshots.toSorted((one, other) => other.taken_ts - one.taken_ts)
  const kept = new Set<string>()
  const removed: T[] = []
  const retagged: { snapshot_id: string; tier: 'daily' | 'weekly' }[] = []
  for (const snapshot of newestFirst) {
    const age = now - snapshot.taken_ts
    if (age > snapshot_keep_ms) {
      removed.push(snapshot)
      continue
    }
    if (age <= hourly_days * day_ms) continue
    const tier = age <= daily_days * day_ms ? 'daily' : 'weekly'
    const period = tier === 'daily' ? dayOf(snapshot.taken_ts) : weekOf(snapshot.taken_ts)
    const key = JSON.stringify([scopeKey(snapshot), snapshot.graph_id, tier, period])
    if (kept.has(key)) {
      removed.push(snapshot)
      continue
    }
    kept.add(key)
    if (snapshot.tier !== tier) retagged.push({ snapshot_id: snapshot.snapshot_id, tier })
  }
  return { removed, retagged }
}

/** Calendar date in UTC. */
function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** ISO 8601 week in UTC, such as `2026-W09`: that of its Thursday. */
export function weekOf(at: number): string {
  const day = new Date(Math.floor(at / day_ms) * day_ms)
  const thursday = new Date(day.getTime() + (4 - (day.getUTCDay() || 7)) * day_ms)
  const first = Date.UTC(thursday.getUTCFullYear(), 0, 1)
  const week = Math.floor((thursday.getTime() - first) / (7 * day_ms)) + 1
  return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, '0')}`
}
