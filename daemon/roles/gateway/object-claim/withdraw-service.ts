// Ends registrations, and removes claims that no longer count.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { registrationTotal } from '../metrics.ts'
import { type StoredService, services } from '../registered-service/model.ts'
import { listsObject } from '../registered-service/rules.ts'
import { settle } from '../settle.ts'
import { objectClaims } from './model.ts'

/** Of a service whose end is recorded, and whose document is still to be removed. */
const ended = 'ended'

/** False: the document has changed since, and stays. Of several processes, one records the end. */
export async function withdrawService(
  call: Call,
  { id, version, value }: Doc<StoredService>,
  outcome: 'removed' | 'expired',
): Promise<boolean> {
  const { url, source, registered_by } = value
  if (value.attempt !== ended) {
    const audit = [call.audited(`gateway.registration.${outcome}`, id, { url, source, registered_by })]
    const next: StoredService = { ...value, state: 'claiming', objects: [], claiming: [], attempt: ended, ends_ts: 0 }
    const isFirst = await settle(
      call
        .store(services)
        .update(id, (current) => (current.version === version ? { next, answer: true, audit } : { answer: false })),
    )
    if (!isFirst?.answer) return false
    call.count(registrationTotal, { outcome })
    call.log.info(`gateway.registration.${outcome}`, { trace_id: call.trace.trace_id, name: id, url })
  }
  const found = await call.store(services).find(id)
  if (found?.value.attempt === ended) await settle(call.store(services).remove(id, undefined, found.version))
  await releaseClaims(call, id)
  return true
}

/** Removes the claims of objects that the service does not list, also those that an interrupted registration left. */
export async function releaseClaims(call: Call, service: string): Promise<void> {
  const claims = call.store(objectClaims)
  let after: string | undefined
  for (;;) {
    const position = after === undefined ? {} : { after: { value: null, id: after } }
    const { docs, next_cursor } = await claims.list({ filter: { service }, limit: 100, fresh: true, ...position })
    for (const { id, version } of docs) {
      after = id
      const owner = await call.store(services).find(service)
      // A registration that lists the object from now on rewrites its claim, so that the version differs.
      if (!owner || !listsObject(owner.value, id)) await settle(claims.remove(id, undefined, version))
    }
    if (next_cursor === undefined) return
  }
}
