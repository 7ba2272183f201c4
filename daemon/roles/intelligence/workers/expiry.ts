// Marks expired open signals; nothing is deleted.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { changeSignal } from '../signal/change-signal.ts'
import { signals } from '../signal/model.ts'
import { expireSignal } from '../signal/rules.ts'

export const expiry: Worker = { name: 'expiry', when: { every_ms: 60_000 }, run }

async function run(call: Call): Promise<void> {
  for (;;) {
    const due = await call.store(signals).list({ filter: { due_ts: { lte: call.now() } }, limit: 100, fresh: true })
    for (const { id } of due.docs) {
      if (call.signal.aborted) return
      const mark = (current: Parameters<typeof expireSignal>[0]) => expireSignal(current, call.nowIso(), call.now())
      await changeSignal(call, id, mark, 'intelligence.signal.expired')
    }
    if (due.next_cursor === undefined) return
  }
}
