// The audit chains of a running site, read as the site's own service reads them: of every tenant.
import { expect } from 'vitest'
import { apiPrefix } from '../http/api-prefix.ts'
import type { OperationFixture } from './operation-fixture.ts'

export type AuditRecordSummary = {
  role: string
  seq: number
  action: string
  outcome: string
  subject: string
  target: string
}

export async function readAuditRecords({ site }: OperationFixture): Promise<AuditRecordSummary[]> {
  const token = await site.token({ sub: 'role:reader', tenant_id: '*', roles: ['admin'] })
  const found: AuditRecordSummary[] = []
  for (const role of Object.keys(site.running.urls)) {
    const list = `${apiPrefix(role)}/audit?limit=500`
    let path: string | undefined = list
    while (path) {
      const { status, json } = await site.request(role, { method: 'GET', path, token })
      expect(status).toBe(200)
      const page = json as {
        items: { seq: number; event?: Omit<AuditRecordSummary, 'role' | 'seq'> }[]
        next_cursor?: string
      }
      found.push(...page.items.flatMap(({ seq, event }) => (event ? [{ role, seq, ...event }] : [])))
      path = page.next_cursor && `${list}&cursor=${page.next_cursor}`
    }
  }
  return found
}
