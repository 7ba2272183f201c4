// Cancels the backups of a packaged site that wait: one that failed for the lack of a role is tried again after a minute.
import path from 'node:path'
import * as z from 'zod'
import { requestOverSocket } from '../../../daemon/boot/host/socket-request.ts'
import type { FederatedSite } from './packaged-federation.ts'

const page = z.object({ items: z.array(z.object({ id: z.string(), state: z.string() })) })

export async function cancelWaitingBackups(site: FederatedSite): Promise<void> {
  const { token } = await site.as('root', ['admin'])
  const request = (method: string, at = '') =>
    requestOverSocket(path.join(site.dir, 'run', 'site', 'sock'), {
      ...{ method, path: `/api/v2/job/backup${at}`, timeout_ms: 10_000 },
      headers: { authorization: `Bearer ${token}` },
    })
  const { items } = page.parse((await request('GET')).body)
  for (const { id } of items.filter(({ state }) => state === 'queued' || state === 'waiting')) {
    const { status } = await request('DELETE', `/${id}`)
    if (status !== 200) throw new Error(`the backup ${id} was not cancelled: ${status}`)
  }
}
