// Puts undecided sessions in conflict once their deadline has passed.

import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { changeSession } from '../session/change-session.ts'
import { sessions } from '../session/model.ts'
import { applyDeadline } from '../session/rules.ts'

export const deadlines: Worker = { name: 'deadlines', when: { every_ms: 1_000 }, run }

async function run(call: Call): Promise<void> {
  for (;;) {
    const due = await call
      .store(sessions)
      .list({ filter: { deadline_ts: { lte: call.now() } }, limit: 100, fresh: true })
    for (const { id } of due.docs) {
      if (call.signal.aborted) return
      const change = await changeSession(call, id, 'consensus.session.deadline', (current, view, decide) =>
        applyDeadline(current, view.sorted, call.caller.subject, call.nowIso(), decide),
      )
      if (!isRefusal(change)) continue
      const { trace_id } = call.trace
      call.log.warn('consensus.session.deadline_refused', { trace_id, session: id, code: change.code })
    }
    if (due.next_cursor === undefined) return
  }
}
