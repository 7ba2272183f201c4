// The audit chains of a running site, read as the site's own service reads them: of every tenant.
import { expect } from 'vitest'
import type { Stage } from './stage.ts'

export type Record = { role: string; seq: number; action: string; outcome: string; subject: string; target: string }

/** At most the newest 500 of each role. */
export async function anyAuditRecord({ site }: Stage): Promise<Record[]> {
  const token = await site.token({ tenant_id: '*', roles: ['admin'] })
  const all = Object.keys(site.running.urls).map(async (role) => {
    const { status, json } = await site.ask(role, { method: 'GET', path: '/api/v2/audit?limit=500', token })
    expect(status).toBe(200)
    const { items } = json as { items: { seq: number; event?: Omit<Record, 'role' | 'seq'> }[] }
    return items.flatMap(({ seq, event }) => (event ? [{ role, seq, ...event }] : []))
  })
  return (await Promise.all(all)).flat()
}
