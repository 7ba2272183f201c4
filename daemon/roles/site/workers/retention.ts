// Removes the files of messages past their retention; the records of the messages stay.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { transportsPart } from '../parts.ts'

const interval_ms = 600_000

export const retention: Worker = { name: 'retention', when: { every_ms: interval_ms }, run }

async function run(call: Call): Promise<void> {
  for (const { name, oneWay } of call.part(transportsPart)) {
    const dropped = (await oneWay?.dropOld(call.signal)) ?? []
    if (dropped.length === 0) continue
    const channels = dropped.map(({ channel, messages }) => ({ channel, messages }))
    await call.record([call.audited('site.retention.done', name, { channels })])
    if (dropped.some(({ more }) => more) && !call.signal.aborted) call.wake('retention')
  }
}
