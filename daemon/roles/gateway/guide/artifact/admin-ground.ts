// The grounds of a change by an administrator: its subject as the actor, with rationale and note.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { ChangeGround } from '../audit/entry.ts'

export function adminGround(
  call: Call,
  { rationale, admin_note }: { readonly rationale?: string | undefined; readonly admin_note?: string | undefined },
): ChangeGround {
  return {
    actor: `admin:${call.caller.subject}`,
    trigger: 'admin_manual',
    ...(rationale === undefined ? {} : { rationale }),
    ...(admin_note === undefined ? {} : { admin_note }),
  }
}
