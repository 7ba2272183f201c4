// The closed list of reasons for which a message is quarantined, as the format defines them.

export const quarantineReasons = [
  'NAME',
  'NOT_REGULAR',
  'HARDLINK',
  'TOO_LARGE',
  'TRUNCATED',
  'BAD_JSON',
  'DUP_KEY',
  'UNKNOWN_FIELD',
  'BAD_SIG',
  'UNKNOWN_KEY',
  'KEY_REVOKED',
  'THRESHOLD',
  'WRONG_DST',
  'WRONG_CHANNEL',
  'TYPE',
  'BODY_DIGEST',
  'EXPIRED',
  'FUTURE',
  'EQUIVOCATION',
  'FAST_FORWARD',
  'CHAIN_BREAK',
  'LABEL_MISSING',
  'LABEL_DENIED',
  'SCHEMA',
  'REFUSED',
  'POISON',
  'SCANNER',
  'QUOTA',
] as const
export type QuarantineReason = (typeof quarantineReasons)[number]

/** `detail` is for a person; it never quotes content. `code`: the problem code of a refused command. */
export type MessageFault = { readonly reason: QuarantineReason; readonly detail: string; readonly code?: string }

export function fault(reason: QuarantineReason, detail: string): MessageFault {
  return { reason, detail }
}
