// Options of commands that change guidance: each change has a reason, which is kept in its audit record.
import type { ApiObject } from '../client/client.ts'
import type { ParsedParams } from '../program/command.ts'
import { required, text } from '../program/params.ts'

export const groundOptions = {
  reason: { ...required(text('TEXT', 'Why, for the audit record')), remedy: 'add --reason "..."' },
  note: text('TEXT', 'Note of the administrator, kept apart from the reason'),
}

export function toGround({ reason, note }: ParsedParams<typeof groundOptions>): ApiObject {
  return { rationale: reason, admin_note: note }
}
