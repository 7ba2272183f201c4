import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import * as z from 'zod'
import { sqliteAudit } from '../../adapters/store/sqlite/audit.ts'
import { sqliteFile } from '../../adapters/store/sqlite/file.ts'
import { sqliteStore } from '../../adapters/store/sqlite/store.ts'
import { label } from '../../daemon/kernel/label.ts'
import { auditEvent } from '../../daemon/kernel/audit.ts'
const part = z.strictObject({ id: z.string().min(1).max(256), contributor_id: z.string(), pair_score: z.number().min(0).max(1), accuracy: z.number(), credibility: z.number(), at: z.iso.datetime(), digest: z.string() })
const schema = z.strictObject({ tenant_id: z.string(), label, state: z.enum(['a', 'b']), created_at: z.string(), updated_at: z.iso.datetime(), count: z.int(), parts: z.array(part), owes: z.int() })
const docs = { name: 'doc', schema, indexes: ['state', 'created_at', 'owes'] } as never
const value = { tenant_id: 'alpha', label: { policy: 'p', level: 'SECRET', categories: [], originator: 'alpha' }, state: 'a', created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z', count: 0, owes: 0,
  parts: Array.from({ length: 4 }, (_, n) => ({ id: `id${n}`, contributor_id: `c${n}`, pair_score: 0.5, accuracy: 0.5, credibility: 0.25, at: '2026-01-01T00:00:00Z', digest: 'd'.repeat(64) })) }
const event = { at: '2026-01-01T00:00:00.000Z', action: 'consensus.session.contribute', outcome: 'done', tenant_id: 'alpha', subject: 'ann', target: 's1', trace_id: '0'.repeat(32), detail: { a: 1, digest: 'd'.repeat(64) }, label: value.label } as never
console.log('doc chars', JSON.stringify(value).length)
const us = (n: number, f: () => void) => { for (let i = 0; i < 5000; i++) f(); const t = performance.now(); for (let i = 0; i < n; i++) f(); return (((performance.now() - t) * 1000) / n).toFixed(2) }
console.log('zod doc µs', us(50000, () => schema.parse(value)), 'zod event µs', us(50000, () => auditEvent.parse(event)), 'stringify µs', us(50000, () => JSON.stringify(value)))
for (const [callers, spread] of [[64, 64], [64, 1], [64, 5000], [64, 100000], [1, 1]] as const) {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-'))
  const file = sqliteFile({ file: path.join(folder, 'f.db'), addonDir: folder })
  const audit = sqliteAudit(file, 'x@y')
  const store = sqliteStore(file, { audit })
  for (let n = 0; n < spread; n += 500) await store.bulk(Array.from({ length: Math.min(500, spread - n) }, (_, i) => ({ do: 'create', collection: docs, id: `d${n + i}`, value })) as never)
  const go = async (total: number) => {
    let k = 0
    const t = performance.now()
    await Promise.all(Array.from({ length: callers }, async () => { while (k < total) { const n = k++; await store.update(docs as never, `d${(n * 7919) % spread}`, (({ value: v }: any) => ({ next: { ...v, count: v.count + 1, updated_at: '2026-01-01T00:00:01Z' }, answer: 0, audit: [event] })) as never) } }))
    return total / ((performance.now() - t) / 1000)
  }
  await go(callers === 1 ? 500 : 5000)
  console.log(`callers ${callers} documents ${spread}:`, Math.round(await go(callers === 1 ? 2000 : 40000)), 'updates/s')
  await store.close()
  rmSync(folder, { recursive: true })
}
