// Reads the audit log of a role over HTTP, in the order in which its records were written.
import { expect } from 'vitest'
import { apiPrefix } from '../http/api-prefix.ts'
import type { TestSite } from './test-site.ts'

export type ReadAuditEvent = {
  readonly action: string
  readonly target: string
  readonly tenant_id: string
  readonly subject: string
  readonly actor?: string
  readonly detail: Readonly<Record<string, unknown>>
}

export async function readAuditEvents(
  world: TestSite,
  role: 'gateway' | 'ingest' | 'intelligence' | 'resolution' | 'site',
): Promise<ReadAuditEvent[]> {
  const { origin } = new URL(world.url(role))
  const token = await world.token({ tenant: '*', subject: 'role:reader', roles: ['admin'] })
  const events: { seq: number; event: ReadAuditEvent }[] = []
  let cursor = ''
  do {
    const answer = await fetch(`${origin}${apiPrefix(role)}/audit?limit=500${cursor}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(answer.status).toBe(200)
    const page = (await answer.json()) as { items: { seq: number; event?: ReadAuditEvent }[]; next_cursor?: string }
    for (const { seq, event } of page.items) if (event) events.push({ seq, event })
    cursor = page.next_cursor ? `&cursor=${page.next_cursor}` : ''
  } while (cursor)
  return events.sort((a, b) => a.seq - b.seq).map(({ event }) => event)
}
