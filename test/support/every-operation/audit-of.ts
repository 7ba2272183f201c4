// The audit chains of a running site, read as the site's own service reads them: of every tenant.
import { expect } from 'vitest'
import { prefixOf } from '../api-prefix.ts'
import type { Stage } from './stage.ts'

export type AuditLine = { role: string; seq: number; action: string; outcome: string; subject: string; target: string }

export async function anyAuditRecord({ site }: Stage): Promise<AuditLine[]> {
  const token = await site.token({ sub: 'role:reader', tenant_id: '*', roles: ['admin'] })
  const found: AuditLine[] = []
  for (const role of Object.keys(site.running.urls)) {
    const list = `${prefixOf(role)}/audit?limit=500`
    let path: string | undefined = list
    while (path) {
      const { status, json } = await site.ask(role, { method: 'GET', path, token })
      expect(status).toBe(200)
      const page = json as { items: { seq: number; event?: Omit<AuditLine, 'role' | 'seq'> }[]; next_cursor?: string }
      found.push(...page.items.flatMap(({ seq, event }) => (event ? [{ role, seq, ...event }] : [])))
      path = page.next_cursor && `${list}&cursor=${page.next_cursor}`
    }
  }
  return found
}
